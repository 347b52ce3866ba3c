import Configuration
import Foundation
import JSONCoding
import OpenIDConnect
import Settings
import Storage

/// The check of the server. If a server runs, the check reports its health and tests the public
/// URL. Otherwise it tests whether a server could listen at the configured address.
struct ServerCheck: Sendable {
  let configuration: ServerConfiguration
  /// Whether the public URL is not tested, because it may lead beyond this machine.
  let isOffline: Bool

  func findings() async -> [Finding] {
    // The check of the store reports a PostgreSQL server that is out of reach.
    guard (try? await Store.isServed(at: configuration.storeLocation)) ?? false else {
      return [.ok("no server runs on this store")] + listening
    }
    guard configuration.port != 0 else {
      return [
        .ok("a server runs on this store; its port is unknown, so the check did not contact it")
      ]
    }
    return [await health()] + (isOffline ? [] : await publicURL())
  }

  /// Returns the finding about `/health/ready` of the running server. The request goes to the
  /// listening address on this machine.
  private func health() async -> Finding {
    let url = "http://\(host):\(configuration.port)/health/ready"
    let log = "read its log: journalctl -u petrel -n 50"
    do {
      let answer = try await BoundedFetcher().fetch(url, form: nil, authorization: nil)
      // Another program may answer at this port with anything, so an answer without JSON is
      // reported as such.
      guard let json = try? JSONValue(parsing: Data(answer.body)),
        let checks = json["checks"]?.object
      else {
        return .problem(
          "\(url) answered with status \(answer.status), but it is not a Petrel server",
          "another program uses port \(configuration.port); change the port of one of them")
      }
      let failing = checks.sorted { $0.key < $1.key }.filter { $0.value.string != "ok" }
        .map { "\($0.key) \($0.value.string ?? "")" }
      guard !failing.isEmpty else { return .ok("a server runs and is ready: \(url)") }
      return .problem("the server is not ready: \(failing.joined(separator: "; "))", log)
    } catch {
      return .problem("a server has the store open but does not answer: \(error)", log)
    }
  }

  /// The host to connect to. If the server listens on all interfaces, it is a loopback address.
  private var host: String {
    switch configuration.address {
    case "0.0.0.0": "127.0.0.1"
    case "::": "[::1]"
    case let address: address.contains(":") ? "[\(address)]" : address
    }
  }

  /// Returns the finding about `/health/live` at the public URL. The request also tests the proxy
  /// and its certificate. Returns nothing if no public URL is set.
  private func publicURL() async -> [Finding] {
    guard let url = configuration.publicURL else { return [] }
    let page = (url.hasSuffix("/") ? String(url.dropLast()) : url) + "/health/live"
    do {
      let answer = try await BoundedFetcher().fetch(page, form: nil, authorization: nil)
      guard answer.status == 200 else {
        return [
          .warning(
            "the public URL, \(page), answered with status \(answer.status)",
            "check the proxy in front of the server")
        ]
      }
      return [.ok("the public URL works: \(url)")]
    } catch {
      return [
        .warning(
          "the public URL does not work from this machine: \(error)",
          "check name, certificate and proxy; some networks do not route to their own public address"
        )
      ]
    }
  }

  /// The finding about listening at the configured address; empty for port 0, with which the system
  /// chooses a free port.
  private var listening: [Finding] {
    guard configuration.port != 0 else { return [] }
    let place = "\(configuration.address), port \(configuration.port)"
    switch Self.error(listeningOn: configuration.address, port: configuration.port) {
    case nil: return [.ok("a server can listen on \(place)")]
    case EADDRINUSE?:
      return [
        .problem(
          "another program listens on \(place)",
          "find it with ss -ltnp; stop it, or choose another port")
      ]
    case let error?:
      return [
        .problem(
          "a server cannot listen on \(place): \(String(cString: strerror(error)))",
          "choose an address of this machine, and a port of at least 1024")
      ]
    }
  }

  /// Binds a socket to an address for a moment.
  ///
  /// - Returns: The error number, such as `EADDRINUSE`; `nil` if a server could use the address.
  ///   `EADDRNOTAVAIL` also means that the text is no numeric address.
  static func error(listeningOn address: String, port: Int) -> Int32? {
    var hints = addrinfo()
    hints.ai_flags = AI_PASSIVE | AI_NUMERICHOST
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let name = address == "localhost" ? "127.0.0.1" : address
    var found: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, String(port), &hints, &found) == 0, let found else {
      return EADDRNOTAVAIL
    }
    defer { freeaddrinfo(found) }
    let descriptor = socket(found.pointee.ai_family, found.pointee.ai_socktype, 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    return bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) == 0 ? nil : errno
  }
}
