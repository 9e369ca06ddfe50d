#include "nodes/http/http_door.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace dag::web {
namespace {

HttpAnswer no(unsigned status, std::string why) { return {status, HttpAnswer{}.type, why + "\n"}; }

/// The host name of HOST[:PORT] or [HOST]:PORT, in small letters; empty when it is neither.
std::string name_in(std::string_view host) {
  std::string_view name = host, port;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return {};
    name = host.substr(1, end - 1);
    port = host.substr(end + 1);
  } else if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    port = host.substr(colon);
  }
  if (!port.empty()) {
    const bool digits =
        port.size() > 1 && port.size() <= 6 && port.front() == ':' &&
        std::all_of(port.begin() + 1, port.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) return {};
  }
  std::string small(name);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

/// True: the host is a number, which no foreign name server can redirect.
bool is_number(const std::string& name) {
  in6_addr any{};
  return inet_pton(AF_INET, name.c_str(), &any) == 1 || inet_pton(AF_INET6, name.c_str(), &any) == 1;
}

/// In a time that does not tell where they differ.
bool same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      all += ' ';
    } else if (text[i] != '%') {
      all += text[i];
    } else {
      unsigned char byte = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const char* const digits = text.data() + i + 1;
      if (std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2) return std::nullopt;
      all += static_cast<char>(byte);
      i += 2;
    }
  }
  return all;
}

/// A cookie's value has no room for all that a token may be made of.
std::string encoded(std::string_view token) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string all;
  for (const char c : token) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.') {
      all += c;
    } else {
      all += '%';
      all += digits[byte >> 4];
      all += digits[byte & 15];
    }
  }
  return all;
}

/// Browsers keep cookies by host, whatever the port, and nodes of two clusters may be on one host.
std::string cookie_name(const std::string& host) {
  const auto colon = host.rfind(':');
  const bool has_port = colon != std::string::npos && host.find(']', colon) == std::string::npos;
  return "dag_token" + (has_port ? "_" + host.substr(colon + 1) : std::string());
}

/// Our token among the cookies of a request; empty: it is not there.
std::string_view kept_token(std::string_view cookies, const std::string& name) {
  while (!cookies.empty()) {
    std::string_view one = cookies.substr(0, cookies.find(';'));
    cookies.remove_prefix(std::min(one.size() + 1, cookies.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    const auto equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == name) return one.substr(equals + 1);
  }
  return {};
}

}  // namespace

std::optional<HttpAnswer> HttpDoor::turns_away(const HttpHead& head) const {
  const std::string name = name_in(head.host);
  if (name.empty()) return no(400, "the Host header is missing or invalid");
  if (token.empty() && name != "localhost" && !is_number(name) && name != name_in(host))
    return no(403, "'" + name + "' is no name of this server: use its address");
  if (!head.origin.empty() && head.origin != "http://" + head.host && head.origin != "https://" + head.host) {
    return no(403, "a page of " + head.origin + " may not ask here");
  }
  if (!token.empty() && !same(head.authorization, "Bearer " + token) &&
      !same(kept_token(head.cookie, cookie_name(head.host)), encoded(token))) {
    if (brings_token(head)) {
      // Lax: a link from elsewhere leads on to the page, too, and a page from elsewhere neither reads nor
      // frames it.
      HttpAnswer answer = no(303, "the token is kept");
      answer.headers = {
          {"Location", "/"},
          {"Set-Cookie", cookie_name(head.host) + "=" + encoded(token) + "; Path=/; HttpOnly; SameSite=Lax"}};
      return answer;
    }
    return no(
        401,
        "this needs a token, which the setting `http_token` has: a browser opens /?token=TOKEN, a program "
        "says `Authorization: Bearer TOKEN`");
  }
  if (head.method != "GET" && head.method != "HEAD") {
    return no(405, head.method + " is not allowed: this server is read-only, use `dag`");
  }
  return std::nullopt;
}

/// A person follows a link once.
bool HttpDoor::brings_token(const HttpHead& head) const {
  if (head.method != "GET") return false;
  const Result<HttpRequest> request = parse_target(head.target);
  if (!request || request->path != "/") return false;
  const auto said = request->query.find("token");
  return said != request->query.end() && same(said->second, token);
}

Result<HttpRequest> parse_target(std::string_view target) {
  const Error none{ErrorCode::usage, "this is no path"};
  HttpRequest request;
  const auto question = target.find('?');
  const auto path = decoded(target.substr(0, question), false);
  if (!path || !path->starts_with('/') || path->find('\0') != std::string::npos) return none;
  request.path = *path;
  if (question == std::string_view::npos) return request;
  for (std::string_view left = target.substr(question + 1); !left.empty();) {
    const std::string_view one = left.substr(0, left.find('&'));
    left.remove_prefix(std::min(one.size() + 1, left.size()));
    const auto equals = one.find('=');
    const auto name = decoded(one.substr(0, equals), true);
    const auto value = equals == std::string_view::npos ? std::optional<std::string>("")
                                                        : decoded(one.substr(equals + 1), true);
    if (!name || !value) return none;
    if (!name->empty()) request.query.emplace(*name, *value);
  }
  return request;
}

}  // namespace dag::web
