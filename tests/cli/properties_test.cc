#include <catch2/catch.hpp>

#include "connectors/kafka/client_properties.h"
#include "connectors/kafka/jaas.h"
#include "connectors/kafka/java_properties.h"

using namespace flow;
using namespace flow::kafka;

namespace {

constexpr const char* certificate =
    "-----BEGIN CERTIFICATE----- MIIBszCCAVmgAwIBAgIUZZ -----END CERTIFICATE-----";
constexpr const char* key =
    "-----BEGIN PRIVATE KEY----- MIGHAgEAMBMGByqG -----END PRIVATE KEY-----";

Result<std::string> fake_file(const std::string& path) {
  if (path == "ca.pem" || path == "client.pem") {
    return "subject=x\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  }
  if (path == "old.jks") {
    return std::string{"\xfe\xed\xfe\xed\0\0", 6};
  }
  if (path == "store.p12") {
    return std::string{"\x30\x82\x01", 3};
  }
  if (path == "notes.txt") {
    return "buy milk";
  }
  return error(Errc::invalid, "cannot read '" + path + "': No such file or directory");
}

Result<ClientProperties> translate(const std::string& text) {
  return translate_properties(text, "client.properties", fake_file);
}

std::string settings_of(const std::string& text) {
  const auto made = translate(text);
  if (!made) {
    return made.error().detail;
  }
  std::string all;
  for (const auto& [name, value] : made.value().config.settings) {
    all += name + "=" + value + ";";
  }
  return all;
}

}  // namespace

TEST_CASE("properties are read as Java reads them") {
  struct Case {
    const char* text;
    const char* key;
    const char* value;
    int line;
  };
  const auto c = GENERATE(values<Case>({
      {"a=b", "a", "b", 1},
      {"a = b ", "a", "b ", 1},
      {"a:b", "a", "b", 1},
      {"a b", "a", "b", 1},
      {"a\t:\tb", "a", "b", 1},
      {"a  b = c", "a", "b = c", 1},
      {"a==b", "a", "=b", 1},
      {"a", "a", "", 1},
      {"a=", "a", "", 1},
      {"# c\n! d\n\n  a=b", "a", "b", 4},
      {"a=b\\\n   c\\\n\td", "a", "bcd", 1},
      {"a=b\\\r\n   c", "a", "bc", 1},
      {"a=b\\\\\n", "a", "b\\", 1},
      {"a=b\\\n# c", "a", "b# c", 1},
      {"a\\ b\\=c=d", "a b=c", "d", 1},
      {"a=\\t\\n\\q", "a", "\t\nq", 1},
      {"a=\\u00fc", "a", "\xc3\xbc", 1},
      {"a=\\u20AC", "a", "\xe2\x82\xac", 1},
      {"a=\\ud83d\\ude00", "a", "\xf0\x9f\x98\x80", 1},
      {"a=\xc3\xbc", "a", "\xc3\xbc", 1},  // UTF-8
      {"a=\xfc", "a", "\xc3\xbc", 1},      // Latin-1
      {"\xef\xbb\xbf"
       "a=b",
       "a", "b", 1},  // a byte order mark
      {"a=1\na=2", "a", "2", 2},
      {"a=b\\", "a", "b", 1},
      {"a=b#c", "a", "b#c", 1},
      {"a=\"b\"", "a", "\"b\"", 1},
  }));
  CAPTURE(c.text);
  const auto read = parse_properties(c.text, "f");
  REQUIRE(read);
  REQUIRE(read.value().size() == 1);
  CHECK(read.value()[0].key == c.key);
  CHECK(read.value()[0].value == c.value);
  CHECK(read.value()[0].line == c.line);
}

TEST_CASE("an unfinished escape is named with its line") {
  const auto read = parse_properties("a=b\nc=\\u12", "f.properties");
  REQUIRE_FALSE(read);
  CHECK(read.error().detail == "f.properties:2: a \\u escape needs four hexadecimal digits");
}

TEST_CASE("a JAAS entry is read as Java reads it") {
  struct Case {
    const char* text;
    const char* user;
    const char* password;
  };
  const auto c = GENERATE(values<Case>({
      {"m.PlainLoginModule required username=\"alice\" password=\"a b;c=d\";", "alice", "a b;c=d"},
      {"m.PlainLoginModule required username='alice' password='x';", "alice", "x"},
      {"m.PlainLoginModule  REQUIRED\n username=alice\n password=x ;", "alice", "x"},
      {"m.PlainLoginModule required username = \"a\\\"b\" password=\"c\\\\d\";", "a\"b", "c\\d"},
      {R"(m.PlainLoginModule required username="a\q\tb" password="\101\60\0601\8";)", "aq\tb",
       "A0018"},
      {"m.PlainLoginModule required debug=\"true\" username=\"\" password=\"\";", "", ""},
  }));
  CAPTURE(c.text);
  auto entry = parse_jaas(c.text);
  REQUIRE(entry);
  CHECK(entry.value().login_module == "m.PlainLoginModule");
  CHECK(entry.value().options["username"] == c.user);
  CHECK(entry.value().options["password"] == c.password);
}

TEST_CASE("a wrong JAAS entry is told without its password") {
  const auto text = GENERATE(as<std::string>{}, "", ";", "m.PlainLoginModule",
                             "m.PlainLoginModule username=\"u\" password=\"hunter2\";",
                             "m.PlainLoginModule required username=\"u\" password=\"hunter2\"",
                             "m.PlainLoginModule required username=\"u\" password=\"hunter2",
                             "m.PlainLoginModule required username \"u\" password=\"hunter2\";",
                             "m.A required password=\"hunter2\"; m.B required;");
  CAPTURE(text);
  const auto entry = parse_jaas(text);
  REQUIRE_FALSE(entry);
  CHECK(entry.error().detail.find("hunter2") == std::string::npos);
}

TEST_CASE("Java's client properties become librdkafka's settings") {
  const std::string sasl =
      "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
      "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule "
      "required \\\n  username=\"alice\" \\\n  password=\"s3cret\";\n";
  struct Case {
    std::string text;
    std::string settings;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"bootstrap.servers=a:1,b:2\nclient.id=me\n", "bootstrap.servers=a:1,b:2;client.id=me;"},
      {"security.protocol=SSL\n", "security.protocol=ssl;"},
      {"request.timeout.ms=7000\n", "socket.timeout.ms=7000;"},
      {"reconnect.backoff.ms=20\nconnections.max.idle.ms=1000\n",
       "connections.max.idle.ms=1000;reconnect.backoff.ms=20;"},
      {sasl,
       "sasl.mechanism=SCRAM-SHA-512;sasl.password=s3cret;sasl.username=alice;"
       "security.protocol=sasl_ssl;"},
      {"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=u\nsasl.password=p\n",
       "sasl.mechanism=PLAIN;sasl.password=p;sasl.username=u;security.protocol=sasl_plaintext;"},
      {"retries=3\nkey.serializer=x.Y\ngroup.id=g\nenable.auto.commit=true\n", ""},
      {"metadata.broker.list=a:1\ndebug=security\n", "debug=security;metadata.broker.list=a:1;"},
      {"ssl.truststore.type=PEM\nssl.truststore.location=ca.pem\n", "ssl.ca.location=ca.pem;"},
      {"ssl.truststore.location=ca.pem\n", "ssl.ca.location=ca.pem;"},
      {"ssl.keystore.type=PEM\nssl.keystore.location=client.pem\nssl.key.password=pw\n",
       "ssl.certificate.location=client.pem;ssl.key.location=client.pem;ssl.key.password=pw;"},
      {"ssl.keystore.type=PKCS12\nssl.keystore.location=store.p12\nssl.keystore.password=pw\n",
       "ssl.keystore.location=store.p12;ssl.keystore.password=pw;"},
      {"ssl.endpoint.identification.algorithm=\n", "ssl.endpoint.identification.algorithm=none;"},
      {"ssl.endpoint.identification.algorithm=HTTPS\n",
       "ssl.endpoint.identification.algorithm=https;"},
      {std::string{"ssl.truststore.certificates="} + certificate + "\n",
       "ssl.ca.pem=-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUZZ\n-----END "
       "CERTIFICATE-----\n;"},
      {std::string{"ssl.keystore.key="} + key + "\nssl.keystore.certificate.chain=" + certificate +
           "\n",
       "ssl.certificate.pem=-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUZZ\n"
       "-----END CERTIFICATE-----\n;ssl.key.pem=-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqG\n"
       "-----END PRIVATE KEY-----\n;"},
      {"ssl.ca.location=/etc/ca.pem\nssl.key.location=k.pem\n",
       "ssl.ca.location=/etc/ca.pem;ssl.key.location=k.pem;"},
  }));
  CAPTURE(c.text);
  CHECK(settings_of(c.text) == c.settings);
}

TEST_CASE("what cannot be translated is an error that names it and the way out") {
  const std::string plain = "org.apache.kafka.common.security.plain.PlainLoginModule required ";
  struct Case {
    std::string text;
    std::string place;
    std::string way_out;
  };
  const auto c = GENERATE_COPY(values<Case>({
      {"\nssl.truststore.location=old.jks\nssl.truststore.password=hunter2\n",
       "client.properties:2: ssl.truststore.location: ", "keytool -list -rfc -keystore 'old.jks'"},
      {"ssl.truststore.type=PKCS12\nssl.truststore.location=store.p12\n",
       "client.properties:2: ssl.truststore.location: ", "ssl.truststore.type=PEM"},
      {"ssl.keystore.location=old.jks\nssl.keystore.password=hunter2\n",
       "client.properties:1: ssl.keystore.location: ", "-deststoretype PKCS12"},
      {"ssl.keystore.location=/no/such/file\n", "client.properties:1: ssl.keystore.location: ",
       "cannot read '/no/such/file': No such file or directory"},
      {"ssl.truststore.location=/no/such/file\n", "client.properties:1: ssl.truststore.location: ",
       "cannot read '/no/such/file': No such file or directory"},
      {"ssl.truststore.location=notes.txt\n", "client.properties:1: ssl.truststore.location: ",
       "'notes.txt' is neither a PEM file nor a Java store; name a file of certificates in PEM"},
      {"ssl.keystore.location=notes.txt\n", "client.properties:1: ssl.keystore.location: ",
       "'notes.txt' is neither a PEM file nor a Java store"},
      {"ssl.truststore.location=store.p12\n", "client.properties:1: ssl.truststore.location: ",
       "'store.p12' is a PKCS#12 store, which cannot be read here"},
      {"ssl.truststore.certificates=hunter2\n",
       "client.properties:1: ssl.truststore.certificates: ", "no complete PEM certificate"},
      {std::string{"ssl.keystore.key="} + key + "\n",
       "client.properties: ssl.keystore.certificate.chain: ", "ssl.keystore.key needs one"},
      {"security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI\nsasl.jaas.config=com.sun.security.auth."
       "module."
       "Krb5LoginModule required useKeyTab=true keyTab=\"/k\" principal=\"p\";\n",
       "client.properties:3: sasl.jaas.config: ", "sasl.kerberos.keytab"},
      {"security.protocol=SASL_SSL\nsasl.jaas.config=" + plain +
           "username=\"u\" password=\"hunter2\";\n",
       "client.properties:2: sasl.jaas.config: ", "needs sasl.mechanism=PLAIN"},
      {"security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-256\nsasl.jaas.config=" + plain +
           "username=\"u\" password=\"hunter2\";\n",
       "client.properties:3: sasl.jaas.config: ",
       "PlainLoginModule does not go with sasl.mechanism=SCRAM-SHA-256"},
      {"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nsasl.jaas.config=" + plain +
           "username=\"u\";\n",
       "client.properties:3: sasl.jaas.config: ", "both needed"},
      {"security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\n",
       "client.properties:2: sasl.mechanism: ", "PLAIN needs sasl.jaas.config"},
      {"security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n",
       "client.properties:2: sasl.mechanism: ", "sasl.oauthbearer.method=oidc"},
      {"security.protocol=SASL_SSL\n",
       "client.properties:1: security.protocol: ", "needs sasl.mechanism"},
      {"sasl.login.callback.handler.class=x.Y\n",
       "client.properties:1: sasl.login.callback.handler.class: ", "Java class"},
      {"sasl.password=${file:/etc/pw:pw}\n",
       "client.properties:1: sasl.password: ", "write the value"},
      {"ssl.cipher.suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n",
       "client.properties:1: ssl.cipher.suites: ", "OpenSSL"},
      {"security.protocol=KERBEROS\n", "client.properties:1: security.protocol: ", "kerberos"},
      {"request.timeout.ms=soon\n",
       "client.properties:1: request.timeout.ms: ", "socket.timeout.ms"},
  }));
  CAPTURE(c.text);
  const auto made = translate(c.text);
  REQUIRE_FALSE(made);
  CHECK(made.error().errc == Errc::invalid);
  CHECK(made.error().detail.substr(0, c.place.size()) == c.place);
  CHECK_THAT(made.error().detail, Catch::Contains(c.way_out));
  CHECK(made.error().detail.find("hunter2") == std::string::npos);
  CHECK(made.error().detail.find('\n') == std::string::npos);
}

TEST_CASE("what means nothing here is told, and does not stop") {
  const auto made = translate("retries=3\nno.such.setting=1\nssl.protocol=TLSv1.3\n");
  REQUIRE(made);
  CHECK(made.value().config.settings.empty());
  REQUIRE(made.value().ignored.size() == 1);
  CHECK(made.value().ignored[0] ==
        "client.properties:1: retries: is of no meaning here and ignored");
  REQUIRE(made.value().warnings.size() == 2);
  CHECK_THAT(made.value().warnings[0], Catch::StartsWith("client.properties:2: no.such.setting: "));
  CHECK_THAT(made.value().warnings[1], Catch::StartsWith("client.properties:3: ssl.protocol: "));
}

TEST_CASE("a folder is no file of settings") {
  const auto made = load_properties("/");
  REQUIRE_FALSE(made);
  CHECK(made.error().detail == "cannot read '/': Is a directory");
}

TEST_CASE("a file that is not there is named") {
  const auto made = load_properties("/no/such/client.properties");
  REQUIRE_FALSE(made);
  CHECK(made.error().detail ==
        "cannot read '/no/such/client.properties': No such file or directory");
}
