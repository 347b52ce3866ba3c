import CMicroHTTPD
import Foundation
import Glibc

/// The file of a local socket (unix(7)), which only its owner can open.
public struct SocketFile: Sendable, Hashable {
  /// The longest path in bytes, without the zero at its end.
  public static let longestPath = 107

  /// The path of the file.
  public let path: String

  /// Creates a value for a path, without access to the file.
  public init(path: String) {
    self.path = path
  }

  /// The folder of the file; empty if the path has no slash.
  public var directory: String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

  /// Returns the files with this name at which programs of this machine listen, sorted by path.
  /// Files that this process may not open are included.
  public static func listening(named name: String) -> [SocketFile] {
    // Without /proc the result is empty, as if nothing listened.
    let table = (try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8)) ?? ""
    let paths = table.split(separator: "\n").compactMap { line -> Substring? in
      guard line.hasSuffix("/" + name), let start = line.firstIndex(of: "/") else { return nil }
      return line[start...]
    }
    return Set(paths).sorted().map { SocketFile(path: String($0)) }
  }

  /// Whether a program listens at the file and this process may connect to it.
  public var isListenedAt: Bool {
    guard let descriptor = try? Self.socket() else {
      // Without a descriptor no connection can be tried.
      return false
    }
    defer { close(descriptor) }
    // The address fails only for a path that no socket can have, and nothing can listen there.
    return (try? withAddress { connect(descriptor, $0, $1) == 0 }) ?? false
  }

  /// Returns a socket that listens at the file. The file gets the mode 0600. A file at which
  /// nothing listens any more is replaced.
  func listen() throws(HTTPServerError) -> Int32 {
    let descriptor = try Self.socket()
    do throws(HTTPServerError) {
      // Linux gives the file the mode of the socket, so the file never has another mode.
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
        "the path of a socket must have 1 to \(Self.longestPath) bytes, and '\(path)' has "
          + "\(bytes.count)")
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
