import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding

/// What APNs would do with each request: rules first, then the faults that were asked for.
struct SimulatedService: Sendable {
  /// What is remembered of one connection.
  struct Connection: Sendable {
    /// Counted from 1.
    var number: Int
    var tokens = ProviderTokenSession()
    /// What the client has shown in the TLS handshake.
    var certificate: TLSPeerCertificate?
    /// Whether its requests are let come together for a GOAWAY.
    var isGathering = false
    /// Requests that came, accepted or not.
    var requestCount = 0
    /// Whether a request with a valid provider token was answered.
    var isTrusted = false
    /// The first stream above the one that GOAWAY named, nil before that.
    var firstGivenBack: Int32?
  }

  /// What is to be done with a request.
  enum Reaction: Sendable, Hashable {
    case answer(HTTP2Response, delay: Double)
    case stall
    case reset(HTTP2ErrorCode)
    /// GOAWAY that names the stream before the request's.
    case goAway
    case disconnect
    case freeze
    /// To be kept for a GOAWAY, of which this is the plan if the request is the first.
    case gather(APNsFault.GoAwayPlan?)
  }

  var validator: APNsRequestValidator
  var script = FaultScript()
  /// After how many requests a connection is ended with GOAWAY; nil for never.
  var requestsPerConnection: Int?

  /// Decides on a request, and tells what there is to tell of it.
  mutating func receive(
    _ request: SimulatedRequest, stream: Int32, on connection: inout Connection, now: Timestamp
  ) -> (push: ReceivedPush, reaction: Reaction) {
    connection.requestCount += 1
    if let first = connection.firstGivenBack, stream >= first {
      // It was on its way when GOAWAY told the sender to send it again, elsewhere.
      var push = ReceivedPush(request, connection: connection.number, time: now)
      push.note = "not looked at: came after GOAWAY"
      return (push, .stall)
    }
    let (push, reaction) = decide(on: request, over: &connection, now: now)
    if reaction == .goAway { connection.firstGivenBack = stream }
    return (push, reaction)
  }

  /// Changes what is for the service itself, and says what is for the server.
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

  private mutating func decide(
    on request: SimulatedRequest, over connection: inout Connection, now: Timestamp
  ) -> (push: ReceivedPush, reaction: Reaction) {
    var push = ReceivedPush(request, connection: connection.number, time: now)
    if let requestsPerConnection, connection.requestCount > requestsPerConnection {
      push.note = "not looked at: the connection has had its \(requestsPerConnection) requests"
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

  /// The answer to a request that was kept and is now accepted.
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
    // APNs says with each 410 since when.
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
