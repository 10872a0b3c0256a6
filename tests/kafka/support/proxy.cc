#include "tests/kafka/support/proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <stdexcept>

#include "tests/kafka/support/world.h"

namespace world {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error{"proxy: " + what}; }

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int broker_port() {
  const auto address = broker();
  return std::stoi(address.substr(address.rfind(':') + 1));
}

void no_delay(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool write_all(int socket, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const auto count = ::send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) {
      return false;
    }
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

// Appends what has arrived; false at the end of the connection.
bool read_some(int socket, std::string& into) {
  std::array<char, 65536> bytes{};
  const auto count = ::recv(socket, bytes.data(), bytes.size(), 0);
  if (count <= 0) {
    return false;
  }
  into.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

// Takes one whole frame, length included, off the front.
std::optional<std::string> take_frame(std::string& bytes) {
  std::uint32_t length = 0;
  if (bytes.size() < sizeof length) {
    return std::nullopt;
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::size_t whole = sizeof length + ntohl(length);
  if (bytes.size() < whole) {
    return std::nullopt;
  }
  auto frame = bytes.substr(0, whole);
  bytes.erase(0, whole);
  return frame;
}

std::int16_t api_key_of(const std::string& frame) {
  std::uint16_t key = 0;
  std::memcpy(&key, frame.data() + 4, sizeof key);
  return static_cast<std::int16_t>(ntohs(key));
}

// Answers name the broker by host and port; the port is ours from here on.
void replace_port(std::string& frame, int from, int to) {
  const auto bytes_of = [](int port) {
    const std::uint32_t number = htonl(static_cast<std::uint32_t>(port));
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  };
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const std::string old = host + bytes_of(from);
    for (auto at = frame.find(old); at != std::string::npos; at = frame.find(old, at + 1)) {
      frame.replace(at, old.size(), host + bytes_of(to));
    }
  }
}

}  // namespace

Proxy::Proxy() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t length = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      ::pipe2(bell_, O_CLOEXEC | O_NONBLOCK) != 0) {
    fail("cannot listen");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread{&Proxy::run, this};
}

Proxy::~Proxy() {
  stop_ = true;
  static_cast<void>(::write(bell_[1], "", 1));
  thread_.join();
  for (const auto& link : links_) {
    ::close(link.client);
    ::close(link.broker);
  }
  ::close(listener_);
  ::close(bell_[0]);
  ::close(bell_[1]);
}

void Proxy::arm(std::int16_t api_key, Strike strike, int nth) {
  const std::lock_guard lock{mutex_};
  armed_ = api_key;
  strike_ = strike;
  countdown_ = nth;
  has_struck_ = false;
}

std::string Proxy::deliver_kept() {
  {
    const std::lock_guard lock{mutex_};
    bool was_kept = false;
    for (auto& link : links_) {
      if (!link.kept.empty()) {
        was_kept = true;
        link.awaits_kept = true;
        if (!write_all(link.broker, link.kept)) {
          fail("the broker took its connection away before the kept request was delivered");
        }
        link.kept.clear();
      }
    }
    if (!was_kept) {
      fail("nothing was kept");
    }
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  std::mutex mutex;
  std::condition_variable nobody;
  while (std::chrono::steady_clock::now() < until) {
    {
      const std::lock_guard lock{mutex_};
      for (const auto& link : links_) {
        if (!link.kept_answer.empty()) {
          return link.kept_answer;
        }
      }
    }
    std::unique_lock lock{mutex};
    nobody.wait_for(lock, std::chrono::milliseconds{1});
  }
  fail("the broker did not answer the kept request");
}

void Proxy::run() {
  while (!stop_) {
    std::vector<pollfd> watched{{listener_, POLLIN, 0}, {bell_[0], POLLIN, 0}};
    std::vector<Link*> owners;
    {
      const std::lock_guard lock{mutex_};
      for (auto& link : links_) {
        watched.push_back({link.client, POLLIN, 0});
        watched.push_back({link.broker, POLLIN, 0});
        owners.push_back(&link);
      }
    }
    ::poll(watched.data(), watched.size(), -1);
    const std::lock_guard lock{mutex_};
    for (std::size_t i = 0; i < owners.size(); ++i) {
      auto& link = *owners[i];
      bool is_alive = true;
      if (link.client >= 0 && watched[2 + 2 * i].revents != 0) {
        is_alive = pump_client(link);
      }
      if (is_alive && watched[3 + 2 * i].revents != 0) {
        is_alive = pump_broker(link);
      }
      if (!is_alive) {
        ::close(link.client);
        ::close(link.broker);
        links_.remove_if([&link](const Link& other) { return &other == &link; });
      }
    }
    if (watched[0].revents != 0) {
      accept_link();
    }
  }
}

void Proxy::accept_link() {
  Link link;
  link.client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  link.broker = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(broker_port());
  if (::connect(link.broker, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(link.client);
    ::close(link.broker);
    return;
  }
  no_delay(link.client);
  no_delay(link.broker);
  links_.push_back(std::move(link));
}

bool Proxy::pump_client(Link& link) {
  if (!read_some(link.client, link.from_client)) {
    // What is kept has to find its connection open.
    ::close(link.client);
    link.client = -1;
    return !link.kept.empty();
  }
  while (auto frame = take_frame(link.from_client)) {
    if (!forward(link, *frame)) {
      return false;
    }
    if (link.client < 0) {
      break;
    }
  }
  return true;
}

bool Proxy::forward(Link& link, const std::string& frame) {
  if (!link.kept.empty()) {
    return true;  // behind a kept request nothing goes on
  }
  const bool strikes = armed_ && api_key_of(frame) == *armed_ && --countdown_ == 0;
  if (!strikes) {
    return write_all(link.broker, frame);
  }
  armed_.reset();
  has_struck_ = true;
  if (strike_ == Strike::cut_after) {
    // Shutting only the writing half down lets the broker read the request to its end.
    write_all(link.broker, frame);
    ::shutdown(link.broker, SHUT_WR);
    return false;
  }
  link.kept = frame;
  if (strike_ == Strike::cut_before) {
    ::close(link.client);
    link.client = -1;
  }
  return true;
}

bool Proxy::pump_broker(Link& link) {
  if (!read_some(link.broker, link.from_broker)) {
    return false;
  }
  while (auto frame = take_frame(link.from_broker)) {
    if (link.awaits_kept) {
      link.kept_answer = *frame;
      link.awaits_kept = false;
      continue;
    }
    if (link.client >= 0) {
      replace_port(*frame, broker_port(), port_);
      if (!write_all(link.client, *frame)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace world
