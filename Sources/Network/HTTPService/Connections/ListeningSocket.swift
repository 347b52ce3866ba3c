import CMicroHTTPD
import Glibc

/// A socket that listens.
struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// The port it really listens at; 0 for a file.
  let port: Int
  /// The file that it listens at, where it is of this machine alone.
  private let file: SocketFile?

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

  /// Listens no more. The file goes first: as long as this socket listens, no other takes its place.
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
        // Both families have the port at the same place.
        return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          Int(UInt16(bigEndian: $0.pointee.sin_port))
        }
      }
    }
  }

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
