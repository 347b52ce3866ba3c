import CMicroHTTPD
import Glibc

/// A thread of libmicrohttpd that reads and writes many connections.
struct ConnectionLoop: @unchecked Sendable {
  // Unchecked: the library's own locks guard what the pointer leads to.
  private let daemon: OpaquePointer
  /// The object that the callbacks use. The library has an unretained pointer to it, so this
  /// property keeps it alive.
  private let context: LoopContext

  init(server: HTTPServer) throws(HTTPServerError) {
    let configuration = server.configuration
    context = LoopContext(server: server)
    var options = MicroHTTPDOptions(
      context: Unmanaged.passUnretained(context).toOpaque(),
      log: { owner, format, _ in
        guard let owner, let format, strstr(format, "Content-Length' header") != nil else { return }
        Unmanaged<LoopContext>.fromOpaque(owner).takeUnretainedValue()
          .refuseLength(isTooLarge: strncmp(format, "Too large", 9) == 0)
      },
      access: { _, connection, _, method, version, bytes, count, _ in
        guard let connection = Connection.of(connection), let method, let version, let count
        else {
          return microhttpd_result(false)
        }
        return microhttpd_result(
          connection.access(method: method, version: version, bytes: bytes, count: count))
      },
      target: { _, target, native in
        if let target { Connection.of(native)?.begin(target: String(cString: target)) }
        return nil
      },
      completed: { _, native, _, code in
        Connection.of(native)?.end(isComplete: microhttpd_is_complete(code))
      },
      connection: { owner, native, context, code in
        guard let owner, let native, let context else { return }
        let loop = Unmanaged<LoopContext>.fromOpaque(owner).takeUnretainedValue()
        let server = loop.server
        if microhttpd_is_started(code) {
          let connection = Connection(
            server: server, native: NativeConnection(native), loop: loop)
          context.pointee = Unmanaged.passRetained(connection).toOpaque()
          server.registry.insert(connection)
        } else if let pointer = context.pointee {
          let connection = Unmanaged<Connection>.fromOpaque(pointer).takeRetainedValue()
          connection.closes()
          server.registry.remove(connection)
          context.pointee = nil
          server.counters.openConnections.decrement()
        }
      },
      idleTimeoutSeconds: UInt32(configuration.idleTimeout.components.seconds),
      connectionMemory: configuration.connectionMemory)
    guard let daemon = microhttpd_start(&options) else {
      throw HTTPServerError(
        .cannotStart,
        "an event-loop thread cannot be started: \(String(cString: strerror(errno))); "
          + "check the limits of threads and open files (ulimit -u, ulimit -n)")
    }
    self.daemon = daemon
  }

  /// Takes over a connection. If it returns `false`, the library has closed the descriptor.
  func add(_ descriptor: Int32, address: inout sockaddr_storage, size: socklen_t) -> Bool {
    withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        MHD_add_connection(daemon, descriptor, address, size) == microhttpd_result(true)
      }
    }
  }

  /// Closes all connections and waits for the end of the thread. No connection may be suspended.
  func stop() { MHD_stop_daemon(daemon) }
}

extension Connection {
  /// Returns the connection in the context of the library's one, between its start and its end.
  fileprivate static func of(_ native: OpaquePointer?) -> Connection? {
    guard let native, let context = microhttpd_context(native) else { return nil }
    return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
  }
}
