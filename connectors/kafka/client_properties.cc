#include "connectors/kafka/client_properties.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "connectors/files/read_file.h"
#include "connectors/kafka/jaas.h"
#include "connectors/kafka/java_properties.h"
#include "connectors/kafka/tls_properties.h"

namespace flow::kafka {
namespace {

// What flow decides itself, or what has no meaning for a tool that only looks and resets.
constexpr std::array ignored_names{"acks",
                                   "allow.auto.create.topics",
                                   "auto.commit.interval.ms",
                                   "auto.include.jmx.reporter",
                                   "auto.offset.reset",
                                   "batch.size",
                                   "buffer.memory",
                                   "check.crcs",
                                   "client.dns.lookup",
                                   "compression.type",
                                   "compression.gzip.level",
                                   "compression.lz4.level",
                                   "compression.zstd.level",
                                   "default.api.timeout.ms",
                                   "default.deserialization.exception.handler",
                                   "delivery.timeout.ms",
                                   "enable.auto.commit",
                                   "enable.idempotence",
                                   "enable.metrics.push",
                                   "exclude.internal.topics",
                                   "fetch.max.bytes",
                                   "fetch.max.wait.ms",
                                   "fetch.min.bytes",
                                   "group.id",
                                   "group.instance.id",
                                   "group.protocol",
                                   "group.remote.assignor",
                                   "heartbeat.interval.ms",
                                   "interceptor.classes",
                                   "isolation.level",
                                   "key.deserializer",
                                   "key.serializer",
                                   "linger.ms",
                                   "max.block.ms",
                                   "max.in.flight.requests.per.connection",
                                   "max.partition.fetch.bytes",
                                   "max.poll.interval.ms",
                                   "max.poll.records",
                                   "max.request.size",
                                   "metadata.max.idle.ms",
                                   "metadata.recovery.strategy",
                                   "metadata.recovery.rebootstrap.trigger.ms",
                                   "metric.reporters",
                                   "metrics.num.samples",
                                   "metrics.recording.level",
                                   "metrics.sample.window.ms",
                                   "partition.assignment.strategy",
                                   "partitioner.adaptive.partitioning.enable",
                                   "partitioner.availability.timeout.ms",
                                   "partitioner.class",
                                   "partitioner.ignore.keys",
                                   "receive.buffer.bytes",
                                   "retries",
                                   "retry.backoff.max.ms",
                                   "retry.backoff.ms",
                                   "sasl.kerberos.kinit.cmd",
                                   "sasl.kerberos.ticket.renew.jitter",
                                   "sasl.kerberos.ticket.renew.window.factor",
                                   "sasl.login.connect.timeout.ms",
                                   "sasl.login.read.timeout.ms",
                                   "sasl.login.refresh.buffer.seconds",
                                   "sasl.login.refresh.min.period.seconds",
                                   "sasl.login.refresh.window.factor",
                                   "sasl.login.refresh.window.jitter",
                                   "sasl.login.retry.backoff.max.ms",
                                   "sasl.login.retry.backoff.ms",
                                   "send.buffer.bytes",
                                   "session.timeout.ms",
                                   "ssl.secure.random.implementation",
                                   "transaction.timeout.ms",
                                   "transactional.id",
                                   "value.deserializer",
                                   "value.serializer"};

// A Java class that would take part in logging in or in TLS: leaving it out would change who
// connects.
constexpr std::array untranslatable_classes{"sasl.client.callback.handler.class",
                                            "sasl.login.callback.handler.class",
                                            "sasl.login.class",
                                            "security.providers",
                                            "ssl.engine.factory.class",
                                            "ssl.provider",
                                            "config.providers"};

constexpr std::array renamed{
    std::pair{"request.timeout.ms", "socket.timeout.ms"},
    std::pair{"sasl.mechanism", "sasl.mechanism"},
};

bool contains(const auto& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_secret(const std::string& name) {
  return name.find("password") != std::string::npos || name.find("secret") != std::string::npos ||
         name.find("jaas") != std::string::npos || name.find("pem") != std::string::npos ||
         name.find("ssl.keystore.key") != std::string::npos || name == "sasl.oauthbearer.config";
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// librdkafka's own judgement of a setting; the reason never repeats a secret.
std::optional<std::string> refusal_of(const std::string& name, const std::string& value,
                                      bool& is_known) {
  const std::unique_ptr<rd_kafka_conf_t, decltype(&rd_kafka_conf_destroy)> conf{
      rd_kafka_conf_new(), &rd_kafka_conf_destroy};
  std::array<char, 512> reason{};
  const auto answer =
      rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), reason.data(), reason.size());
  is_known = answer != RD_KAFKA_CONF_UNKNOWN;
  if (answer != RD_KAFKA_CONF_INVALID) {
    return std::nullopt;
  }
  return is_secret(name) ? std::string{"librdkafka does not take the value"} : reason.data();
}

class Translator {
 public:
  Translator(std::string file, const ReadFile& read_file)
      : file_(std::move(file)), tls_(read_file) {}

  Result<void> add(const Property& property) {
    lines_[property.key] = property.line;
    if (property.value.find("${") != std::string::npos && property.value.ends_with("}")) {
      return wrong(property.key,
                   "a config provider's reference cannot be resolved here; write the value, or "
                   "let what starts flow write the file");
    }
    if (contains(untranslatable_classes, property.key)) {
      return property.value.empty()
                 ? Result<void>{boost::outcome_v2::success()}
                 : wrong(property.key,
                         "a Java class cannot be used here; remove the line and say what it did "
                         "with librdkafka's settings");
    }
    if (property.key == "sasl.jaas.config") {
      return add_jaas(property);
    }
    if (TlsProperties::owns(property.key)) {
      tls_.add(property.key, property.value);
      return boost::outcome_v2::success();
    }
    if (contains(ignored_names, property.key)) {
      out_.ignored.push_back(at(property.key) + "is of no meaning here and ignored");
      return boost::outcome_v2::success();
    }
    return set(property.key, target_of(property.key), property.value);
  }

  Result<ClientProperties> finish() {
    BOOST_OUTCOME_TRY(finish_sasl());
    auto problem =
        tls_.translate([this](const std::string& key, const std::string& name,
                              const std::string& value) { return set(key, name, value); });
    if (problem) {
      return wrong(problem->key, problem->why).error();
    }
    for (const auto& warning : tls_.warnings()) {
      out_.warnings.push_back(at(warning.key) + warning.why);
    }
    return std::move(out_);
  }

 private:
  static std::string target_of(const std::string& key) {
    for (const auto& [java, ours] : renamed) {
      if (key == java) {
        return ours;
      }
    }
    return key;
  }

  std::string at(const std::string& key) const {
    const auto found = lines_.find(key);
    const std::string line =
        found == lines_.end() ? std::string{} : ":" + std::to_string(found->second);
    return file_ + line + ": " + key + ": ";
  }

  Result<void> wrong(const std::string& key, const std::string& why) const {
    return error(Errc::invalid, at(key) + why);
  }

  // `key` is what the file says, `name` librdkafka's setting.
  Result<void> set(const std::string& key, const std::string& name, const std::string& value) {
    const std::string taken = name == "security.protocol" ? lower(value) : value;
    bool is_known = false;
    if (const auto reason = refusal_of(name, taken, is_known)) {
      return wrong(key, lower_first(*reason));
    }
    if (!is_known) {
      out_.warnings.push_back(at(key) +
                              "neither a Kafka client's setting that has a meaning here nor one of "
                              "librdkafka's; ignored");
      return boost::outcome_v2::success();
    }
    out_.config.settings[name] = taken;
    return boost::outcome_v2::success();
  }

  static std::string lower_first(std::string text) {
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    }
    return text;
  }

  Result<void> add_jaas(const Property& property) {
    auto parsed = parse_jaas(property.value);
    if (!parsed) {
      return wrong(property.key, parsed.error().detail);
    }
    jaas_ = std::move(parsed).value();
    return boost::outcome_v2::success();
  }

  bool uses_sasl() const {
    const auto found = out_.config.settings.find("security.protocol");
    return found != out_.config.settings.end() && found->second.starts_with("sasl_");
  }

  std::string mechanism() const {
    for (const char* name : {"sasl.mechanism", "sasl.mechanisms"}) {
      const auto found = out_.config.settings.find(name);
      if (found != out_.config.settings.end()) {
        return found->second;
      }
    }
    return {};
  }

  Result<void> finish_sasl() {
    if (!uses_sasl()) {
      return boost::outcome_v2::success();
    }
    const std::string named = mechanism();
    if (jaas_) {
      return finish_jaas(named);
    }
    const auto& settings = out_.config.settings;
    const bool by_password = named == "PLAIN" || named.starts_with("SCRAM-");
    if (by_password &&
        (!settings.contains("sasl.username") || !settings.contains("sasl.password"))) {
      return wrong(lines_.contains("sasl.mechanism") ? "sasl.mechanism" : "sasl.mechanisms",
                   named + " needs sasl.jaas.config, or sasl.username and sasl.password");
    }
    if (named == "OAUTHBEARER" && !lines_.contains("sasl.oauthbearer.method") &&
        !lines_.contains("enable.sasl.oauthbearer.unsecure.jwt")) {
      return wrong(lines_.contains("sasl.mechanism") ? "sasl.mechanism" : "sasl.mechanisms",
                   oauth_way_out("OAUTHBEARER needs librdkafka's "));
    }
    if (named.empty() && !lines_.contains("sasl.kerberos.keytab")) {
      return wrong("security.protocol", "needs sasl.mechanism and sasl.jaas.config beside it");
    }
    return boost::outcome_v2::success();
  }

  static std::string oauth_way_out(const std::string& before) {
    return before +
           "sasl.oauthbearer.method=oidc with sasl.oauthbearer.client.id, "
           "sasl.oauthbearer.client.secret and sasl.oauthbearer.token.endpoint.url";
  }

  Result<void> finish_jaas(const std::string& named) {
    const std::string module = jaas_->login_module.substr(jaas_->login_module.rfind('.') + 1);
    if (module == "Krb5LoginModule") {
      return wrong("sasl.jaas.config",
                   "a Kerberos login cannot be taken from JAAS; replace the line by librdkafka's "
                   "sasl.kerberos.keytab=FILE and sasl.kerberos.principal=NAME");
    }
    if (module == "OAuthBearerLoginModule") {
      return wrong("sasl.jaas.config",
                   oauth_way_out("an OAUTHBEARER login cannot be taken from JAAS; replace the line "
                                 "by librdkafka's "));
    }
    const bool plain = module == "PlainLoginModule";
    const bool scram = module == "ScramLoginModule";
    if (!plain && !scram) {
      return wrong("sasl.jaas.config",
                   "login module '" + jaas_->login_module +
                       "' is not known; PlainLoginModule and ScramLoginModule are");
    }
    if (named.empty()) {
      return wrong("sasl.jaas.config", std::string{"needs sasl.mechanism="} +
                                           (plain ? "PLAIN" : "SCRAM-SHA-256 or SCRAM-SHA-512") +
                                           " beside it");
    }
    if (plain != (named == "PLAIN") || scram != named.starts_with("SCRAM-")) {
      return wrong("sasl.jaas.config", module + " does not go with sasl.mechanism=" + named);
    }
    if (jaas_->options.contains("tokenauth") && lower(jaas_->options["tokenauth"]) == "true") {
      return wrong("sasl.jaas.config",
                   "delegation tokens (tokenauth) cannot be used here; give a user's "
                   "name and password");
    }
    if (!jaas_->options.contains("username") || !jaas_->options.contains("password")) {
      return wrong("sasl.jaas.config", "username=\"...\" and password=\"...\" are both needed");
    }
    BOOST_OUTCOME_TRY(set("sasl.jaas.config", "sasl.username", jaas_->options["username"]));
    return set("sasl.jaas.config", "sasl.password", jaas_->options["password"]);
  }

  std::string file_;
  ClientProperties out_;
  std::map<std::string, int> lines_;
  std::optional<JaasEntry> jaas_;
  TlsProperties tls_;
};

}  // namespace

Result<ClientProperties> translate_properties(std::string_view text, const std::string& file,
                                              const ReadFile& read_file) {
  BOOST_OUTCOME_TRY(const auto properties, parse_properties(text, file));
  Translator translator{file, read_file};
  for (const auto& property : properties) {
    BOOST_OUTCOME_TRY(translator.add(property));
  }
  return translator.finish();
}

Result<ClientProperties> load_properties(const std::string& file) {
  BOOST_OUTCOME_TRY(const auto text, files::read_file(file));
  return translate_properties(text, file, files::read_file);
}

}  // namespace flow::kafka
