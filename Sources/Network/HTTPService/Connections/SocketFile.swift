import CMicroHTTPD
import Foundation
import Glibc

/// The file of a socket of this machine (unix(7)), which its owner alone can open.
public struct SocketFile: Sendable, Hashable {
  /// Bytes that a path may have, without the zero at its end.
  public static let longestPath = 107

  public let path: String

  public init(path: String) {
    self.path = path
  }

  /// The folder of the file.
  public var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// The files of this name at which programs of this machine listen, those included that this one may not open.
  public static func listening(named name: String) -> [SocketFile] {
    // Without /proc nothing is found, as where nothing listens.
    let table = (try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8)) ?? ""
    let paths = table.split(separator: "\n").compactMap { line -> Substring? in
      guard line.hasSuffix("/" + name), let start = line.firstIndex(of: "/") else { return nil }
      return line[start...]
    }
    return Set(paths).sorted().map { SocketFile(path: String($0)) }
  }

  /// Whether a program listens at the file, and this one may connect to it.
  public var isListenedAt: Bool {
    guard let descriptor = try? Self.socket() else {
      // Without a descriptor nobody can be asked.
      return false
    }
    defer { close(descriptor) }
    // Nobody can listen at a path that no socket may have.
    return (try? withAddress { connect(descriptor, $0, $1) == 0 }) ?? false
  }

  /// A socket that listens at the file, which gets the mode 0600. A file that nobody listens at any more is replaced.
  ///
  /// - Throws: ``HTTPServerError/Code/addressInUse`` where another program listens there,
  ///   ``HTTPServerError/Code/invalidAddress`` for a path that is too long, ``HTTPServerError/Code/cannotBind``.
  func listen() throws(HTTPServerError) -> Int32 {
    let descriptor = try Self.socket()
    do throws(HTTPServerError) {
      // Linux gives the file the mode of the socket, so that it never has another.
      var isBound = try withAddress {
        fchmod(descriptor, 0o600) == 0 && bind(descriptor, $0, $1) == 0
      }
      if !isBound, errno == EADDRINUSE {
        if isListenedAt {
          throw HTTPServerError(.addressInUse, "another program listens at '\(path)'")
        }
        unlink(path)
        isBound = try withAddress { bind(descriptor, $0, $1) == 0 }
      }
      guard isBound, Glibc.listen(descriptor, 128) == 0 else {
        throw HTTPServerError(
          .cannotBind, "cannot listen at '\(path)': \(String(cString: strerror(errno)))")
      }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func socket() throws(HTTPServerError) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = Glibc.socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else {
      throw HTTPServerError(
        .cannotBind, "cannot open a socket: \(String(cString: strerror(errno)))")
    }
    return descriptor
  }

  private func withAddress<Result>(
    _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) throws(HTTPServerError) -> Result {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else {
      throw HTTPServerError(
        .invalidAddress,
        "the path of a socket has 1 to \(Self.longestPath) bytes, and '\(path)' has \(bytes.count)")
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
