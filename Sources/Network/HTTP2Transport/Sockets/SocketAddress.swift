import Foundation

/// An IPv4 or IPv6 address with a port.
struct SocketAddress {
  private var storage = sockaddr_storage()
  private var length: socklen_t = 0

  private init(_ pointer: UnsafePointer<sockaddr>, _ length: socklen_t) {
    self.length = length
    withUnsafeMutableBytes(of: &storage) { bytes in
      bytes.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: Int(length)))
    }
  }

  var family: Int32 { Int32(storage.ss_family) }

  /// Calls `body` with the address and its length. The pointer is valid during the call.
  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// Returns the addresses of a host, in the system's order of preference. The call blocks while
  /// the system asks a name server. With `isNumeric`, the host must be an IP address.
  static func resolve(
    host: String, port: Int, isNumeric: Bool = false
  ) throws(HTTP2Error) -> [SocketAddress] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : AI_ADDRCONFIG)
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, String(port), &hints, &list)
    guard result == 0 else {
      throw HTTP2Error(
        .nameNotResolved,
        "'\(host)' with port \(port) has no address: \(String(cString: gai_strerror(result)))")
    }
    defer { freeaddrinfo(list) }
    return sequence(first: list, next: { $0?.pointee.ai_next }).compactMap { entry in
      entry.flatMap { entry in
        entry.pointee.ai_addr.map { SocketAddress($0, entry.pointee.ai_addrlen) }
      }
    }
  }

  static func isNumeric(_ host: String) -> Bool {
    var buffer = in6_addr()
    return inet_pton(AF_INET, host, &buffer) == 1 || inet_pton(AF_INET6, host, &buffer) == 1
  }

  static func localPort(of descriptor: Int32) -> Int {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        _ = getsockname(descriptor, address, &length)
      }
    }
    // The port is at the same offset for both families.
    return withUnsafeBytes(of: &storage) { bytes in
      Int(UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self)))
    }
  }
}
