import CMicroHTTPD
import Foundation
import Synchronization

extension Connection {
  /// Processes a call of libmicrohttpd for a request. The library calls once for the head, and once
  /// more if the handler decided about it. It then calls once for each piece of the body, and after
  /// that until there is an answer.
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
    guard !incoming.isExamined, !incoming.isReceived else { return answer(to: .resultWanted) }
    incoming.isReceived = true
    shared.withLock { $0.pace.handle(.serverAwaited, at: .now) }
    incoming.bodyFile?.finish()
    switch incoming.reception.handle(.end) {
    case .refuse(let refusal): return refuse(refusal)
    case .answer: return sendEarlyAnswer(closing: false)
    default: return handOver(.whole)
    }
  }

  /// Starts the handler. `false` closes the connection.
  private func handOver(_ stage: ExchangeState.Stage) -> Bool {
    switch shared.withLock({ ($0.exchange.handle(.received(stage)), $0.exchange.number) }) {
    case (.startHandler, let number): return startHandler(stage, number: number)
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
    incoming.isReceived = false
    incoming.isAnswered = false
    incoming.refusal = nil
    // Counted before the check whether the server stops. So either this request sees the stop, or
    // the stop sees this request.
    server.counters.exchanges.increment()
    let request = HTTPRequest(
      method: method, target: head.target, headers: head.headers, remoteAddress: remoteAddress,
      isFromSocketFile: isOfSocketFile)
    incoming.request = request
    let rules = server.configuration.rules(head.method, request.path)
    incoming.rules = rules
    let hasPlace = hasPlace(mayUseReserve: rules.mayUseReserve)
    let peer = peer ?? server.configuration.forwardedAddress(head.headers).map { PeerAddress($0) }
    incoming.memory = ByteAdmission.Holding(peer: peer)
    incoming.file = incoming.memory
    incoming.spooling = rules.body == .file ? server.configuration.spooling : nil
    let limit = server.configuration.limit(of: rules.body)
    incoming.bodyTime = limit.time
    incoming.reception = BodyReception(limit: limit.size)
    let refusal =
      server.isStopping
      ? .stopping
      : headTooLarge(head) ?? takePlace(rules.mayUseReserve) ?? announcedTooMuch(head, limit.size)
    guard hasPlace else { return refuse(.noPlace, closing: true) }
    let action = incoming.reception.handle(.head(head, refusal: refusal))
    guard action == .receive, mustExamine(head) else { return beginBody(action) }
    incoming.isExamined = true
    shared.withLock { $0.pace.handle(.serverAwaited, at: .now) }
    return handOver(.head)
  }

  /// Whether the handler decides about the head before the server receives the body.
  private func mustExamine(_ head: RequestHead) -> Bool {
    guard server.examine != nil else { return false }
    return incoming.spooling != nil || head.isChunked
      || head.contentLength ?? 0 > server.configuration.smallBodySize
  }

  /// Begins to receive or to drop the body, or answers without it. `false` closes the connection.
  func beginBody(_ action: BodyReception.Action) -> Bool {
    switch action {
    case .refuse(let refusal): return refuse(refusal, closing: true)
    case .answer: return sendEarlyAnswer(closing: true)
    case .receive:
      if let spooling = incoming.spooling {
        incoming.bodyFile = HTTPBodyFile(in: spooling.directory)
        guard incoming.bodyFile != nil else {
          return beginBody(incoming.reception.handle(.bodyRefused(.bodyNotStored)))
        }
      } else {
        incoming.body.reserveCapacity(min(incoming.head?.contentLength ?? 0, 64 << 10))
      }
    default: break
    }
    shared.withLock { $0.pace.handle(.bodyAwaited(within: incoming.bodyTime), at: .now) }
    return true
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

  /// Reserves one of the places for requests, or returns the refusal. Urgent ones may use the
  /// reserve.
  private func takePlace(_ isUrgent: Bool) -> HTTPRefusal? {
    // Answers that clients have not read count too. The requests for them often have no body, so
    // the check of the body's bytes would not refuse them.
    if !isUrgent,
      let reason = server.memory.withLock({ $0.refusal(of: 0, for: incoming.memory) })
    {
      return .tooManyBytes(reason, server.configuration.maximumBufferedBytes)
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

  /// Returns the refusal of a body for whose announced bytes there is no space now; `nil` if there
  /// is space, or if the body is small or over its limit.
  private func announcedTooMuch(_ head: RequestHead, _ limit: Int) -> HTTPRefusal? {
    guard let length = head.contentLength, length <= limit,
      length > server.configuration.smallBodySize
    else { return nil }
    if let spooling = incoming.spooling {
      let reason = server.files.withLock { $0.refusal(of: length, for: incoming.file) }
      return reason.map { .tooManyBytes($0, spooling.maximumSpooledBytes) }
    }
    let reason = server.memory.withLock { $0.refusal(of: length, for: incoming.memory) }
    return reason.map { .tooManyBytes($0, server.configuration.maximumBufferedBytes) }
  }

  /// Processes a piece of the body. `false` closes the connection.
  private func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    shared.withLock { $0.pace.handle(.bodyReceived(bytes.count), at: .now) }
    var action = incoming.reception.handle(.bytes(bytes.count))
    if action == .append {
      guard let refusal = keep(bytes) else { return true }
      action = incoming.reception.handle(.bodyRefused(refusal))
    }
    releaseBytes()
    return action != .close
  }

  /// Adds bytes to the body, in memory or in its file, or returns the refusal.
  private func keep(_ bytes: UnsafeRawBufferPointer) -> HTTPRefusal? {
    guard let file = incoming.bodyFile else {
      if let reason = server.memory.withLock({ $0.take(bytes.count, for: &incoming.memory) }) {
        return .tooManyBytes(reason, server.configuration.maximumBufferedBytes)
      }
      incoming.body.append(contentsOf: bytes)
      return nil
    }
    if let reason = server.files.withLock({ $0.take(bytes.count, for: &incoming.file) }) {
      return .tooManyBytes(reason, incoming.spooling?.maximumSpooledBytes ?? 0)
    }
    return file.append(bytes) ? nil : .bodyNotStored
  }

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

extension HTTPRefusal {
  /// Each call creates a new one, with its own random time to retry.
  static var overloaded: HTTPRefusal {
    HTTPRefusal(.overloaded, "the server is overloaded; try again in a moment")
  }

  /// The refusal of an ordinary request on a connection with a reserved place.
  static let noPlace = HTTPRefusal(
    .tooManyConnections, "all connections are taken; try again in a moment")
  static let stopping = HTTPRefusal(.stopping, "the server is stopping; connect again")
  static let bodyNotStored = HTTPRefusal(
    .bodyNotStored, "the server cannot store the body; try again in a moment")

  /// The message names the whole `limit`; in memory, large bodies are refused at half of it.
  static func tooManyBytes(_ reason: Reason, _ limit: Int) -> HTTPRefusal {
    let whose =
      switch reason {
      case .tooManyBytesOfAddress: "requests of this address have"
      case .tooManyBytesOfNetwork: "requests of this network have"
      case .tooManyBytesOfAccount: "requests of this user have"
      default: ""
      }
    return HTTPRefusal(
      reason,
      whose.isEmpty
        ? "requests of \(limit) bytes are under way, which is the limit; try again in a moment"
        : "\(whose) their share of the \(limit) bytes that may be under way; try again in a moment")
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
