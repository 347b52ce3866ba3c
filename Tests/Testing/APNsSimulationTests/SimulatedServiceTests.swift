import CloudKitModel
import Foundation
import HTTP2Transport
import JSONCoding
import Testing

@testable import APNsSimulation

struct SimulatedServiceTests {
  private let now = Timestamp(milliseconds: 1_767_225_600_000)
  private let fixture: RequestFixture

  init() throws {
    fixture = try RequestFixture()
  }

  private func service() -> SimulatedService {
    SimulatedService(validator: APNsRequestValidator(keys: [fixture.registeredKey()]))
  }

  private func react(_ fault: APNsFault?) throws -> (
    push: ReceivedPush, reaction: SimulatedService.Reaction
  ) {
    var service = service()
    if let fault { service.script.add(fault, for: RequestFixture.deviceToken) }
    var connection = SimulatedService.Connection(number: 3)
    return service.receive(
      try fixture.request(now: now), stream: 1, on: &connection, now: now)
  }

  private func response(_ fault: APNsFault?) throws -> HTTP2Response? {
    guard case .answer(let response, _) = try react(fault).reaction else { return nil }
    return response
  }

  @Test("a good request is accepted under its own identifier")
  func accepts() throws {
    let (push, reaction) = try react(nil)
    guard case .answer(let response, delay: 0) = reaction else {
      Issue.record("\(reaction)")
      return
    }
    #expect(response.status == 200)
    #expect(response.headers["apns-id"] == "0b6c2f0e-51d4-4b61-9c1e-3d1f2a5b7c90")
    #expect(response.body == [])
    #expect(push.isAccepted)
    #expect(push.connection == 3)
    #expect(push.deviceToken == RequestFixture.deviceToken)
  }

  @Test("a request without an identifier gets a new one")
  func newIdentifier() throws {
    var service = service()
    var connection = SimulatedService.Connection(number: 1)
    let request = try fixture.request(now: now) { $0.set("apns-id", nil) }
    let (_, reaction) = service.receive(request, stream: 1, on: &connection, now: now)
    guard case .answer(let response, _) = reaction else {
      Issue.record("\(reaction)")
      return
    }
    let identifier = try #require(response.headers["apns-id"])
    #expect(UUID(uuidString: identifier) != nil)
    #expect(identifier == identifier.lowercased())
  }

  @Test("every reason can be played, with its status", arguments: APNsReason.allCases)
  func reasons(reason: APNsReason) throws {
    let response = try #require(try response(.reject(reason)))
    #expect(response.status == reason.status)
    let body = try JSONValue(parsing: Data(response.body))
    #expect(body["reason"]?.string == reason.rawValue)
    #expect((body["timestamp"]?.int == now.milliseconds) == (reason.status == 410))
  }

  @Test("timestamps, Retry-After and unknown reasons are played as asked")
  func details() throws {
    let since = Timestamp(milliseconds: 5)
    let gone = try #require(try response(.reject(.unregistered, timestamp: since)))
    #expect(
      String(decoding: gone.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":5}"#)
    let busy = try #require(try response(.reject(.serviceUnavailable, retryAfter: 7)))
    #expect(busy.headers["retry-after"] == "7")
    #expect(String(decoding: busy.body, as: UTF8.self) == #"{"reason":"ServiceUnavailable"}"#)
    let odd = try #require(try response(.answer(status: 599, reason: nil)))
    #expect(odd.status == 599 && odd.body.isEmpty)
  }

  @Test("faults without an answer say so in what is published")
  func noAnswer() throws {
    for (fault, expected) in [
      (.stall, .stall), (.reset(.refusedStream), .reset(.refusedStream)), (.goAway, .goAway),
      (.disconnect, .disconnect), (.freeze, .freeze),
    ] as [(APNsFault, SimulatedService.Reaction)] {
      let (push, reaction) = try react(fault)
      #expect(reaction == expected)
      #expect(push.status == nil)
      #expect(push.note?.hasPrefix("fault: ") ?? false)
    }
    guard case .answer(let response, delay: 2.5) = try react(.delay(seconds: 2.5)).reaction else {
      Issue.record("no delay")
      return
    }
    #expect(response.status == 200)
  }

  @Test("a request that breaks a rule is told so and uses up no fault")
  func rulesFirst() throws {
    var service = service()
    service.script.add(.reject(.tooManyRequests).times(1), for: nil)
    var connection = SimulatedService.Connection(number: 1)
    let token = try fixture.providerToken(issued: now)
    func status(_ change: (inout SimulatedRequest) -> Void = { _ in }) throws -> Int? {
      service.receive(
        try fixture.request(now: now, providerToken: token, change: change), stream: 1,
        on: &connection, now: now
      ).push.status
    }
    #expect(try status { $0.path = "/x" } == 404)
    #expect(!connection.isTrusted)
    #expect(try status() == 429)
    #expect(connection.isTrusted)
    #expect(try status() == 200)
  }

  @Test("a connection ends after as many requests as it may have")
  func requestsPerConnection() throws {
    var service = service()
    service.requestsPerConnection = 2
    var connection = SimulatedService.Connection(number: 1)
    let token = try fixture.providerToken(issued: now)
    var reactions: [SimulatedService.Reaction] = []
    for number in 0..<4 {
      let (push, reaction) = service.receive(
        try fixture.request(now: now, providerToken: token), stream: Int32(2 * number + 1),
        on: &connection, now: now)
      reactions.append(reaction)
      #expect(push.isAccepted == (number < 2))
    }
    #expect(reactions[2...] == [.goAway, .stall])
  }

  @Test("after GOAWAY only the requests before it are looked at")
  func giveBack() throws {
    var service = service()
    service.script.add(.goAway.times(1), for: nil)
    var connection = SimulatedService.Connection(number: 1)
    let token = try fixture.providerToken(issued: now)
    var accepted: [Int32] = []
    for stream in [5, 7, 3, 9] as [Int32] {
      let request = try fixture.request(now: now, providerToken: token)
      let (push, _) = service.receive(request, stream: stream, on: &connection, now: now)
      if push.isAccepted { accepted.append(stream) }
    }
    #expect(accepted == [3])
  }
}
