import CloudKitModel
import Testing

@testable import APNsSimulation

struct ReceivedPushLogTests {
  private func push(_ number: Int) -> ReceivedPush {
    ReceivedPush(
      time: Timestamp(milliseconds: 0), connection: number, method: "POST", path: "/",
      deviceToken: nil, headers: [:], payload: "", status: 200)
  }

  @Test("are the newest, oldest first, up to the limit")
  func newest() {
    for limit in 1...4 {
      var log = ReceivedPushLog(limit: limit)
      for count in 1...12 {
        log.append(push(count))
        let expected = Array(max(1, count - limit + 1)...count)
        #expect(log.pushes.map(\.connection) == expected, "limit \(limit)")
      }
      log.removeAll()
      #expect(log.pushes.isEmpty)
      log.append(push(1))
      #expect(log.pushes.count == 1)
    }
  }

  @Test("satisfy who waits for as many as are wanted")
  func waiter() {
    var waiter = PushWaiter(count: 2) { $0.connection.isMultiple(of: 2) }
    for number in 1...3 { waiter.offer(push(number)) }
    #expect(!waiter.isSatisfied)
    for number in 4...6 { waiter.offer(push(number)) }
    #expect(waiter.isSatisfied)
    #expect(waiter.found.map(\.connection) == [2, 4])
  }
}
