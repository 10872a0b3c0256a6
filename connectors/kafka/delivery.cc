#include "connectors/kafka/delivery.h"

namespace flow::kafka {

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  auto* const delivery = static_cast<Delivery*>(message->_private);
  delivery->answered = true;
  delivery->code = message->err;
  delivery->status = rd_kafka_message_status(message);
  delivery->offset = message->offset;
}

ErrorHandle hand_over(rd_kafka_t* client, const TopicName& topic, const port::EncodedRecord& record,
                      Delivery& delivery) {
  std::array<rd_kafka_vu_t, 6> arguments{};
  arguments[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  arguments[0].u.cstr = topic.value().c_str();
  arguments[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  arguments[1].u.i32 = 0;
  arguments[2].vtype = RD_KAFKA_VTYPE_KEY;
  arguments[2].u.mem = {const_cast<char*>(record.key.data()), record.key.size()};
  arguments[3].vtype = RD_KAFKA_VTYPE_VALUE;
  arguments[3].u.mem = {record.value ? const_cast<char*>(record.value->data()) : nullptr,
                        record.value ? record.value->size() : 0};
  arguments[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  arguments[4].u.i = RD_KAFKA_MSG_F_COPY;
  arguments[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
  arguments[5].u.ptr = &delivery;
  return ErrorHandle{rd_kafka_produceva(client, arguments.data(), arguments.size())};
}

}  // namespace flow::kafka
