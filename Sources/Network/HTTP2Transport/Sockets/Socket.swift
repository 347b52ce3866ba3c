import Foundation

/// The system calls on non-blocking TCP sockets.
///
/// The functions return plain descriptors; the caller owns and closes them.
enum Socket {
  /// Returns a socket that has begun to connect. The socket becomes writable when the connection is
  /// made or has failed; ``pendingError(of:)`` is then 0 or the error number.
  static func connecting(to address: SocketAddress) throws(HTTP2Error) -> Int32 {
    let descriptor = try make(family: address.family)
    let result = address.withPointer { connect(descriptor, $0, $1) }
    guard result == 0 || errno == EINPROGRESS else {
      let error = HTTP2Error.system("connecting failed", code: .notConnected)
      close(descriptor)
      throw error
    }
    disableDelay(descriptor)
    return descriptor
  }

  /// Returns a socket that listens on an IP address, with a queue of up to 512 connections that
  /// wait to be accepted.
  static func listening(host: String, port: Int) throws(HTTP2Error) -> Int32 {
    guard let address = try SocketAddress.resolve(host: host, port: port, isNumeric: true).first
    else { throw HTTP2Error(.notListening, "'\(host)' is not an IP address to listen on") }
    let descriptor = try make(family: address.family)
    set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    guard address.withPointer({ bind(descriptor, $0, $1) }) == 0, listen(descriptor, 512) == 0
    else {
      let error = HTTP2Error.system("cannot listen on \(host) port \(port)", code: .notListening)
      close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Returns the next connection that waits. If the result is `nil`, `errno` has the reason.
  static func accepted(at listener: Int32) -> Int32? {
    let descriptor = accept(listener, nil, nil)
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    disableDelay(descriptor)
    return descriptor
  }

  /// Returns the error number that the socket keeps, and clears it; 0 if there is no error.
  static func pendingError(of descriptor: Int32) -> Int32 {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &value, &length)
    return value
  }

  private static func make(family: Int32) throws(HTTP2Error) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, kind, 0)
    guard descriptor >= 0 else { throw .system("a socket cannot be created") }
    return descriptor
  }

  /// Switches off Nagle's algorithm. The writers collect frames before they write, so a delay would
  /// only cost time.
  private static func disableDelay(_ descriptor: Int32) {
    set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
  }

  private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
