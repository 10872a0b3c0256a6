#pragma once

#include <librdkafka/rdkafka.h>

#include <array>
#include <cstdint>

#include "connectors/kafka/handles.h"
#include "engine/ports/values.h"

namespace flow::kafka {

// What became of one record that was handed to librdkafka, which points at it until it has
// answered.
struct Delivery {
  bool answered = false;
  rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
  rd_kafka_msg_status_t status = RD_KAFKA_MSG_STATUS_NOT_PERSISTED;
  std::int64_t offset = 0;
};

// The delivery report callback of every producer here; called within rd_kafka_poll.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*);

// Hands one record for partition 0 of `topic` over; its bytes are copied. Returns nothing, or the
// reason.
ErrorHandle hand_over(rd_kafka_t* client, const TopicName& topic, const port::EncodedRecord& record,
                      Delivery& delivery);

}  // namespace flow::kafka
