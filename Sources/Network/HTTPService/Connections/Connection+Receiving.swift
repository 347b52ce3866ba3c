import CMicroHTTPD
import Foundation
import Synchronization

extension Connection {
  /// Processes a call of libmicrohttpd for a request. The library calls once for the head, once for
  /// each piece of the body, and after that until there is an answer.
  ///
  /// - Parameter count: the number of bytes at `bytes`. The method sets the number to zero: it has
  ///   taken all bytes.
  /// - Returns: `false` to close the connection.
  func access(
    method: UnsafePointer<CChar>, version: UnsafePointer<CChar>, bytes: UnsafePointer<CChar>?,
    count: UnsafeMutablePointer<Int>
  ) -> Bool {
    guard incoming.head != nil else {
      return receiveHead(method: String(cString: method), version: String(cString: version))
    }
    if count.pointee > 0 {
      defer { count.pointee = 0 }
      return receive(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
    }
    guard !incoming.isReceived else { return answer(to: .answerWanted) }
    incoming.isReceived = true
    shared.withLock { $0.pace.handle(.requestReceived, at: .now) }
    incoming.bodyFile?.finish()
    if case .refuse(let refusal) = incoming.reception.handle(.end) { return refuse(refusal) }
    switch shared.withLock({ ($0.exchange.handle(.received), $0.exchange.number) }) {
    case (.startHandler, let number): return startHandler(number: number)
    default: return refuse(.stopping)
    }
  }

  /// Checks the head of a request and reserves a place for it.
  private func receiveHead(method: String, version: String) -> Bool {
    let head = RequestHead(
      method: method, target: incoming.target, version: version, headers: readHeaders())
    incoming.head = head
    incoming.isUnasked = false
    incoming.target = ""
    shared.withLock { $0.pace.handle(.headReceived, at: .now) }
    incoming.isReceived = false
    incoming.isAnswered = false
    incoming.refusal = nil
    // Counted before the check whether the server stops. So either this request sees the stop, or
    // the stop sees this request.
    server.counters.exchanges.increment()
    let path = RequestTarget(head.target).path
    let isUrgent = server.configuration.mayUseReserve(path)
    let hasPlace = hasPlace(mayUseReserve: isUrgent)
    var refusal = server.isStopping ? .stopping : headTooLarge(head) ?? takePlace(isUrgent)
    let spooling = spooling(for: head.method, path)
    incoming.reception = BodyReception(
      limit: spooling?.maximumBodySize ?? server.configuration.maximumBodySize)
    if let spooling, refusal == nil {
      incoming.bodyFile = HTTPBodyFile(in: spooling.directory)
      if incoming.bodyFile == nil { refusal = .bodyNotStored }
    }
    guard hasPlace else { return refuse(.noPlace, closing: true) }
    switch incoming.reception.handle(.head(head, refusal: refusal)) {
    case .refuse(let refusal): return refuse(refusal, closing: true)
    case .receive:
      incoming.body.reserveCapacity(min(head.contentLength ?? 0, 64 << 10))
      return true
    default: return true
    }
  }

  /// Whether the head is complete and the library has not called
  /// ``access(method:version:bytes:count:)`` for it.
  var hasUnaskedHead: Bool {
    incoming.isUnasked && !incoming.isRefusedUnasked && microhttpd_has_head(native.pointer)
  }

  /// Sends a refusal directly to the socket, for a request that the library refuses by itself.
  func refuseUnasked(_ refusal: HTTPRefusal) {
    incoming.isRefusedUnasked = true
    server.counters.countRefusal(refusal.reason)
    let configuration = server.configuration
    refusal.send(
      to: native.descriptor, body: configuration.refusalBody(refusal),
      headers: configuration.refusalHeaders(readHeaders()))
  }

  /// Returns the refusal for a target or header fields over their limit; `nil` if both fit.
  private func headTooLarge(_ head: RequestHead) -> HTTPRefusal? {
    let targetLimit = server.configuration.maximumTargetSize
    if head.target.utf8.count > targetLimit {
      return HTTPRefusal(
        .targetTooLong,
        "the request target has \(head.target.utf8.count) bytes; the limit is \(targetLimit)",
        limit: targetLimit)
    }
    let limit = server.configuration.maximumHeaderSize
    let size = head.fieldSize
    guard size > limit else { return nil }
    return HTTPRefusal(
      .headersTooLarge, "the header fields have \(size) bytes; the limit is \(limit)",
      limit: limit)
  }

  /// Reserves one of the places for requests.
  ///
  /// - Parameter isUrgent: whether the request may use the reserve.
  /// - Returns: the refusal; `nil` when the request has a place.
  private func takePlace(_ isUrgent: Bool) -> HTTPRefusal? {
    let bytes = server.configuration.maximumBufferedBytes
    // Answers that clients have not read count too. The requests for them often have no body, so
    // the check of the body's bytes would not refuse them.
    if !isUrgent, server.counters.bufferedBytes.load(ordering: .relaxed) >= bytes {
      return .tooManyBytes(bytes)
    }
    let limit =
      server.configuration.maximumRequestsUnderWay
      + (isUrgent ? server.configuration.reservedConnections : 0)
    incoming.hasPlace = server.counters.requestsUnderWay.reserve(1, limit: limit)
    return incoming.hasPlace
      ? nil
      : HTTPRefusal(
        .tooManyRequests,
        "\(limit) requests are under way, which is the limit; try again in a moment")
  }

  /// Returns the rule for a body that goes to a file; `nil` if it stays in memory.
  private func spooling(for method: String, _ path: String) -> HTTPServer.Spooling? {
    guard let spooling = server.configuration.spooling, spooling.applies(method, path)
    else { return nil }
    return spooling
  }

  /// Processes a piece of the body.
  ///
  /// - Returns: `false` to close the connection.
  private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    shared.withLock { $0.pace.handle(.bodyReceived(bytes.count), at: .now) }
    var action = incoming.reception.handle(.bytes(bytes.count))
    if action == .append {
      guard let refusal = keep(bytes) else { return true }
      action = incoming.reception.handle(.bytesRefused(refusal))
    }
    releaseBody()
    return action != .close
  }

  /// Adds bytes to the body, in memory or in its file.
  ///
  /// - Returns: the refusal; `nil` when the bytes are stored.
  private func keep(_ bytes: UnsafeRawBufferPointer) -> HTTPRefusal? {
    let configuration = server.configuration
    guard let file = incoming.bodyFile, let spooling = configuration.spooling else {
      let limit = configuration.maximumBufferedBytes
      let isLarge = incoming.body.count + bytes.count > HTTPServer.Configuration.largeBodySize
      guard
        server.counters.bufferedBytes.reserve(
          bytes.count, limit: isLarge ? limit / 2 : limit)
      else { return .tooManyBytes(limit) }
      incoming.body.append(contentsOf: bytes)
      return nil
    }
    let limit = spooling.maximumSpooledBytes
    guard server.counters.spooledBytes.reserve(bytes.count, limit: limit) else {
      return .tooManyBytes(limit)
    }
    if file.append(bytes) { return nil }
    _ = server.counters.spooledBytes.add(-bytes.count)
    return .bodyNotStored
  }

  /// Returns the header fields in the order of the request.
  private func readHeaders() -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &headers) { headers in
      microhttpd_each_header(
        native.pointer,
        { context, _, name, nameCount, value, valueCount in
          context?.assumingMemoryBound(to: [(name: String, value: String)].self).pointee.append(
            (String(bytes: name, count: nameCount), String(bytes: value, count: valueCount)))
          return microhttpd_result(true)
        }, headers)
    }
    return headers
  }
}

extension HTTPServer.Configuration {
  /// The size in bytes above which a body may use only half of ``maximumBufferedBytes``.
  static let largeBodySize = 64 << 10
}

extension HTTPRefusal {
  /// The refusal of an overloaded server. Each call creates a new one, with its own random time to
  /// retry.
  static var overloaded: HTTPRefusal {
    HTTPRefusal(.overloaded, "the server is overloaded; try again in a moment")
  }

  /// The refusal of an ordinary request on a connection with a reserved place.
  static let noPlace = HTTPRefusal(
    .tooManyConnections, "all connections are taken; try again in a moment")
  /// The refusal of a server that stops.
  static let stopping = HTTPRefusal(.stopping, "the server is stopping; connect again")
  /// The refusal of a body whose file cannot be written.
  static let bodyNotStored = HTTPRefusal(
    .bodyNotStored, "the server cannot store the body; try again in a moment")

  /// The refusal when the bytes in memory or in files would exceed their limit. Large bodies are
  /// refused at half of the limit in memory; the message names the whole limit.
  static func tooManyBytes(_ limit: Int) -> HTTPRefusal {
    HTTPRefusal(
      .tooManyBytes,
      "requests of \(limit) bytes are under way, which is the limit; try again in a moment")
  }
}

extension String {
  /// Creates a name or value without the white space at its end, which the library leaves there
  /// (RFC 9112 section 5).
  fileprivate init(bytes: UnsafePointer<CChar>?, count: Int) {
    var bytes = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)[...]
    while let last = bytes.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
      bytes.removeLast()
    }
    self.init(decoding: bytes, as: UTF8.self)
  }
}
