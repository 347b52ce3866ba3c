import CMicroHTTPD
import Glibc

/// A socket that listens, on a TCP port or at a file.
struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// The port that the socket listens at; 0 for a file.
  let port: Int
  /// The file that the socket listens at; `nil` for a TCP port.
  private let file: SocketFile?

  /// Listens on a TCP port. `::` accepts IPv4 connections too.
  init(address: String, port: Int) throws(HTTPServerError) {
    guard (0...65535).contains(port) else {
      throw HTTPServerError(.invalidAddress, "the port is \(port); it must be 0 to 65535")
    }
    var hints = addrinfo()
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let host = address == "localhost" ? "127.0.0.1" : address
    guard getaddrinfo(host, String(port), &hints, &found) == 0, let place = found?.pointee else {
      throw HTTPServerError(
        .invalidAddress,
        "\(address.debugDescription) is not a numeric IPv4 or IPv6 address; "
          + "use 127.0.0.1 for this machine alone, 0.0.0.0 or :: for all its addresses")
    }
    defer { freeaddrinfo(found) }
    let descriptor = socket(
      place.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else {
      throw Self.error(errno, doing: "open a socket for", address: address, port: port)
    }
    var on: Int32 = 1
    var off: Int32 = 0
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if place.ai_family == AF_INET6 {
      setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, size)
    }
    guard bind(descriptor, place.ai_addr, place.ai_addrlen) == 0, listen(descriptor, 4096) == 0
    else {
      let code = errno
      Glibc.close(descriptor)
      throw Self.error(code, doing: "listen at", address: address, port: port)
    }
    self.descriptor = descriptor
    self.port = Self.port(of: descriptor) ?? port
    file = nil
  }

  init(_ file: SocketFile) throws(HTTPServerError) {
    descriptor = try file.listen()
    port = 0
    self.file = file
  }

  /// Stops listening, which ends a waiting `accept`. The file is removed first: while this socket
  /// still listens, no other program replaces the file.
  func shutDown() {
    if let file { unlink(file.path) }
    shutdown(descriptor, Int32(SHUT_RDWR))
  }

  func close() { Glibc.close(descriptor) }

  private static func port(of descriptor: Int32) -> Int? {
    var address = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    return withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        guard getsockname(descriptor, address, &size) == 0 else { return nil }
        // The port is at the same offset for both families.
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          Int(UInt16(bigEndian: $0.pointee.sin_port))
        }
      }
    }
  }

  /// Creates the error for a failed system call, with advice for the frequent causes.
  private static func error(
    _ code: Int32, doing: String, address: String, port: Int
  ) -> HTTPServerError {
    let cause = "cannot \(doing) \(address), port \(port): \(String(cString: strerror(code)))"
    switch code {
    case EADDRINUSE:
      return HTTPServerError(
        .addressInUse, "\(cause); stop the program that listens there or choose another port")
    case EADDRNOTAVAIL:
      return HTTPServerError(
        .invalidAddress, "\(cause); use an address that this machine has")
    case EACCES:
      return HTTPServerError(
        .cannotBind, "\(cause); use a port from 1024, or give the process CAP_NET_BIND_SERVICE")
    default:
      return HTTPServerError(.cannotBind, cause)
    }
  }
}
