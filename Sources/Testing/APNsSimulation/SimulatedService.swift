import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

/// The state machine that decides about requests to the simulated APNs. It checks the rules
/// (``APNsRequestValidator``) first, and then applies the faults. It is a value without I/O;
/// ``RequestHandler`` carries out the decisions.
struct SimulatedService: Sendable {
  /// The state of one connection.
  struct Connection: Sendable {
    var number: Int
    var tokens = ProviderTokenSession()
    /// The certificate that the client showed in the TLS handshake; nil if it showed none.
    var certificate: TLSPeerCertificate?
    /// Whether a fault has begun to collect the connection's requests for a GOAWAY
    /// (``APNsFault/goAway(gathering:answering:patience:reason:)``).
    var isGathering = false
    var requestCount = 0
    /// Whether a request has passed all checks of the validator.
    var isTrusted = false
    /// The number of the first stream after the last one that GOAWAY reported as processed; nil
    /// before a GOAWAY.
    var firstGivenBack: Int32?
  }

  /// The simulator's reaction to a request.
  enum Reaction: Sendable, Hashable {
    /// It answers after a delay in seconds, 0 for none.
    case answer(HTTP2Response, delay: Double)
    case stall
    /// It resets the stream (RST_STREAM).
    case reset(HTTP2ErrorCode)
    /// It sends a GOAWAY that reports the request, and later ones, as not processed.
    case goAway
    case disconnect
    /// It neither reads from nor writes to the connection any more.
    case freeze
    /// It keeps the request for a GOAWAY. The value is the plan for the first request of a
    /// collection, and nil for the others.
    case gather(APNsFault.GoAwayPlan?)
  }

  var validator: APNsRequestValidator
  var script = FaultScript()
  /// The number of requests after which a connection ends with GOAWAY; nil for no limit.
  var requestsPerConnection: Int?

  /// Decides about a request. Returns the request as a push, with a description of the decision,
  /// and the reaction.
  mutating func receive(
    _ request: SimulatedRequest, stream: Int32, on connection: inout Connection, now: Timestamp
  ) -> (push: ReceivedPush, reaction: Reaction) {
    connection.requestCount += 1
    if let first = connection.firstGivenBack, stream >= first {
      // The request was under way when GOAWAY was sent. The sender repeats the request on another
      // connection.
      var push = ReceivedPush(request, connection: connection.number, time: now)
      push.note = "not processed: arrived after GOAWAY"
      return (push, .stall)
    }
    let (push, reaction) = decide(on: request, over: &connection, now: now)
    if reaction == .goAway { connection.firstGivenBack = stream }
    return (push, reaction)
  }

  mutating func takeSettings() -> [APNsSetting] {
    script.takeSettings().filter { setting in
      switch setting {
      case .requestsPerConnection(let count): requestsPerConnection = count
      case .providerTokenLifetime(let seconds): validator.providerTokenLifetime = Int64(seconds)
      case .streams, .readDelay, .handshakes: return true
      }
      return false
    }
  }

  /// Decides about a request on a connection for which GOAWAY was not sent, or on a stream below
  /// the ones that GOAWAY excluded.
  private mutating func decide(
    on request: SimulatedRequest, over connection: inout Connection, now: Timestamp
  ) -> (push: ReceivedPush, reaction: Reaction) {
    var push = ReceivedPush(request, connection: connection.number, time: now)
    if let requestsPerConnection, connection.requestCount > requestsPerConnection {
      push.note = "not processed: the connection already had \(requestsPerConnection) requests"
      return (push, .goAway)
    }
    let identifier =
      request[header: "apns-id"].flatMap { UUID(uuidString: $0) } ?? UUID()
    do {
      let token = try validator.validate(
        request, session: &connection.tokens, certificate: connection.certificate, now: now)
      connection.isTrusted = true
      if connection.isGathering { return (push, .gather(nil)) }
      switch script.next(for: token) {
      case .gather(let plan):
        connection.isGathering = true
        return (push, .gather(plan))
      case .expireTokens where connection.tokens.accepted != nil:
        validator.expiredUntil = connection.tokens.accepted?.token.issued
        push.note = "fault: the provider tokens have expired"
        let reaction = Self.reject(
          .expiredProviderToken, timestamp: nil, retryAfter: nil, identifier, &push)
        return (push, reaction)
      case let effect:
        let reaction = Self.react(to: effect, identifier, &push)
        return (push, reaction)
      }
    } catch {
      push.note = error.detail
      let reaction = Self.reject(
        error.reason, timestamp: error.timestamp, retryAfter: nil, identifier, &push)
      return (push, reaction)
    }
  }

  /// Returns the reaction to a request that has passed the checks.
  ///
  /// - Parameter effect: the effect of a fault; nil for none.
  private static func react(
    to effect: APNsFault.Effect?, _ identifier: UUID, _ push: inout ReceivedPush
  ) -> Reaction {
    switch effect {
    case nil, .set, .gather, .expireTokens:
      return accept(identifier, delay: 0, &push)
    case .delay(let seconds):
      push.note = "fault: answered after \(seconds) s"
      return accept(identifier, delay: seconds, &push)
    case .reject(let reason, let timestamp, let retryAfter):
      push.note = "fault"
      return reject(
        reason, timestamp: timestamp, retryAfter: retryAfter, identifier, &push)
    case .answer(let status, let reason):
      push.note = "fault"
      return answer(
        status: status, reason: reason, timestamp: nil, retryAfter: nil, identifier, &push)
    case .stall:
      push.note = "fault: never answered"
      return .stall
    case .reset(let code):
      push.note = "fault: stream reset with \(code)"
      return .reset(code)
    case .goAway:
      push.note = "fault: GOAWAY below this request"
      return .goAway
    case .disconnect:
      push.note = "fault: connection cut"
      return .disconnect
    case .freeze:
      push.note = "fault: connection frozen"
      return .freeze
    }
  }

  static func acceptance(of request: SimulatedRequest) -> HTTP2Response {
    let identifier = request[header: "apns-id"].flatMap { UUID(uuidString: $0) } ?? UUID()
    return HTTP2Response(status: 200, headers: headers(identifier))
  }

  private static func accept(
    _ identifier: UUID, delay: Double, _ push: inout ReceivedPush
  ) -> Reaction {
    push.status = 200
    return .answer(
      HTTP2Response(status: 200, headers: headers(identifier)), delay: delay)
  }

  private static func reject(
    _ reason: APNsReason, timestamp: Timestamp?, retryAfter: Int?, _ identifier: UUID,
    _ push: inout ReceivedPush
  ) -> Reaction {
    // APNs sends a time with each answer of status 410.
    let since = timestamp ?? (reason.status == 410 ? push.time : nil)
    return answer(
      status: reason.status, reason: reason.rawValue, timestamp: since, retryAfter: retryAfter,
      identifier, &push)
  }

  private static func answer(
    status: Int, reason: String?, timestamp: Timestamp?, retryAfter: Int?, _ identifier: UUID,
    _ push: inout ReceivedPush
  ) -> Reaction {
    push.status = status
    push.reason = reason
    var headers = headers(identifier)
    if let retryAfter { headers.append("retry-after", String(retryAfter)) }
    var body: [UInt8] = []
    if let reason {
      headers.append("content-type", "application/json; charset=utf-8")
      var writer = JSONWriter(reserving: 64)
      writer.object { writer in
        writer.member("reason", reason)
        if let timestamp { writer.member("timestamp", timestamp.milliseconds) }
      }
      body = writer.bytes
    }
    return .answer(HTTP2Response(status: status, headers: headers, body: body), delay: 0)
  }

  private static func headers(_ identifier: UUID) -> HTTP2Headers {
    var headers = HTTP2Headers()
    headers.append("apns-id", identifier.uuidString.lowercased(), indexed: false)
    return headers
  }
}
