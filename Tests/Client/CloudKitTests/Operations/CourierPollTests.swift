import Foundation
import Testing

@testable import CloudKit

struct CourierPollTests {
  private let url = URL(string: "http://courier/aps?tok=a")!

  private func describe(_ action: CourierPoll.Action) -> String {
    switch action {
    case .create: "create"
    case .register(let token): "register \(token)"
    case .reportConnection: "connected"
    case .poll(let url, let last): "poll \(url.query ?? "")\(last.isEmpty ? "" : " after \(last)")"
    case .deliver(let body): "deliver \(String(decoding: body, as: UTF8.self))"
    case .wait(let seconds): "wait \(seconds)"
    case .fail(let error): "fail \(error.code.rawValue)"
    }
  }

  private func actions(of poll: inout CourierPoll, _ events: [CourierPoll.Event]) -> [String] {
    events.map { describe(poll.handle($0, jitter: 1)) }
  }

  private func ready() -> CourierPoll {
    var poll = CourierPoll()
    _ = actions(of: &poll, [.proceed, .created(token: "t", url: url), .registered])
    return poll
  }

  @Test("A token is made, registered and polled; one body is one notification")
  func course() {
    var poll = CourierPoll()
    #expect(
      actions(
        of: &poll,
        [
          .proceed, .created(token: "t", url: url), .registered, .proceed,
          .polled(status: 200, body: Data("{}".utf8)), .proceed,
          .polled(status: 200, body: Data()), .timedOut,
        ]) == [
          "create", "register t", "connected", "poll tok=a", "deliver {}", "poll tok=a",
          "poll tok=a", "poll tok=a",
        ])
  }

  @Test("A poll names the last event that the program has, and none of another token")
  func lastEvent() {
    var poll = ready()
    func answer(_ id: String) -> CourierPoll.Event {
      .polled(status: 200, body: Data("{}".utf8), eventID: id)
    }
    #expect(
      actions(
        of: &poll,
        [
          answer("1"), .proceed, .polled(status: 200, body: Data()), answer("2"), .proceed,
          .polled(status: 404, body: Data()), .created(token: "u", url: url), .registered, .proceed,
        ]) == [
          "deliver {}", "poll tok=a after 1", "poll tok=a after 1", "deliver {}",
          "poll tok=a after 2", "create", "register u", "connected", "poll tok=a",
        ])
  }

  @Test("A server that stops or is busy costs no token", arguments: [503, 500, 502, 429, 408])
  func passingTrouble(status: Int) {
    var poll = ready()
    let trouble = CourierPoll.Event.polled(status: status, body: Data())
    #expect(
      actions(of: &poll, [trouble, trouble, .proceed])
        == ["wait 1.0", "wait 2.0", "poll tok=a"])
  }

  @Test("A dead token is replaced at once, then with growing pauses")
  func deadToken() {
    var poll = ready()
    let dead = CourierPoll.Event.polled(status: 404, body: Data())
    let again: [CourierPoll.Event] = [
      dead, .created(token: "u", url: url), .registered, .proceed,
    ]
    #expect(actions(of: &poll, again) == ["create", "register u", "connected", "poll tok=a"])
    #expect(actions(of: &poll, [dead, .proceed]) == ["wait 2.0", "create"])
    #expect(
      actions(of: &poll, [.created(token: "v", url: url), .registered, dead])
        == ["register v", "connected", "wait 4.0"])
  }

  @Test("The first answer after a failure is a new connection, and its notification follows")
  func reconnection() {
    var poll = ready()
    let failure = CourierPoll.Event.failed(CKError(.networkFailure, "down"))
    let answer = CourierPoll.Event.polled(status: 200, body: Data("{}".utf8))
    #expect(
      actions(of: &poll, [failure, .proceed, answer, .proceed, .proceed, answer])
        == ["wait 1.0", "poll tok=a", "connected", "deliver {}", "poll tok=a", "deliver {}"])
  }

  @Test("Pauses after failures double up to a minute, and an answer ends them")
  func backOff() {
    var poll = ready()
    let failure = CourierPoll.Event.failed(CKError(.networkFailure, "down"))
    #expect(
      actions(of: &poll, Array(repeating: failure, count: 8))
        == [1, 2, 4, 8, 16, 32, 60, 60].map { "wait \(Double($0))" })
    #expect(
      actions(of: &poll, [.proceed, .polled(status: 200, body: Data()), .proceed, failure])
        == ["poll tok=a", "connected", "poll tok=a", "wait 1.0"])
  }

  @Test("The server's own time to wait counts when it is longer")
  func retryAfter() {
    var poll = ready()
    let busy = CKError(.serviceUnavailable, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 30)])
    #expect(actions(of: &poll, [.failed(busy)]) == ["wait 30.0"])
  }

  @Test(
    "What waiting cannot heal ends it",
    arguments: [
      CKError.Code.notAuthenticated, .permissionFailure, .badContainer, .invalidArguments,
      .serverRejectedRequest,
    ])
  func hopeless(code: CKError.Code) {
    var poll = CourierPoll()
    #expect(
      actions(of: &poll, [.failed(CKError(code, "no"))]) == ["fail \(code.rawValue)"])
  }

  @Test("A server without a courier is an error")
  func noCourier() {
    var poll = CourierPoll()
    #expect(
      actions(of: &poll, [.proceed, .created(token: "t", url: nil)]) == ["create", "fail 1"])
  }
}
