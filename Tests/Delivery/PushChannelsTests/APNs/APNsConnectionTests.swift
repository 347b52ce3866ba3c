import Testing

@testable import PushChannels

struct APNsConnectionTests {
  /// Returns an open connection. By default its first push has an answer.
  private func opened(limit: Int = 100, isProven: Bool = true) -> APNsConnection {
    var connection = APNsConnection(number: 1)
    connection.opened(limit: limit, at: 0)
    if isProven {
      connection.sent()
      _ = connection.ended(status: 200, at: 0)
    }
    return connection
  }

  @Test("One push goes alone until it is answered, then as many as the peer allows")
  func firstAlone() {
    var connection = APNsConnection(number: 1)
    #expect(connection.capacity == 0)
    connection.opened(limit: 3, at: 0)
    #expect(connection.capacity == 1)
    connection.sent()
    #expect(connection.capacity == 0)
    connection.limitChanged(10)
    #expect(connection.capacity == 0)
    let isProof = connection.ended(status: 200, at: 0)
    #expect(isProof)
    #expect(connection.phase == .open)
    #expect(connection.capacity == 10)
    for _ in 0..<10 { connection.sent() }
    #expect(connection.capacity == 0)
    _ = connection.ended(status: nil, at: 0)
    #expect(connection.capacity == 1)
    connection.limitChanged(2)
    #expect(connection.capacity == 0)
  }

  @Test(
    "An answer proves the credentials unless it speaks of them or of trouble",
    arguments: [
      (200, true), (400, true), (404, true), (405, true), (410, true), (413, true), (403, false),
      (429, false), (500, false), (503, false),
    ])
  func proof(status: Int, isProof: Bool) {
    var connection = opened(isProven: false)
    connection.sent()
    #expect(connection.ended(status: status, at: 0) == isProof)
    #expect(connection.phase == (isProof ? .open : .proving))
    #expect(connection.capacity == (isProof ? 100 : 1))
  }

  @Test("A first push without an answer is followed by another alone")
  func firstFails() {
    var connection = opened(isProven: false)
    connection.sent()
    let isProof = connection.ended(status: nil, at: 0)
    #expect(!isProof)
    #expect(connection.capacity == 1)
    #expect(connection.phase == .proving)
  }

  @Test("A connection is idle from its last answer on")
  func idle() {
    var connection = opened()
    connection.sent()
    connection.sent()
    #expect(connection.idleSince == nil)
    _ = connection.ended(status: 200, at: 5)
    #expect(connection.idleSince == nil)
    _ = connection.ended(status: nil, at: 7)
    #expect(connection.idleSince == 7)
  }
}
