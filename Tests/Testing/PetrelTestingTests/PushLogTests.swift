import Foundation
import Testing

@testable import PetrelTesting

struct PushLogTests {
  @Test("readers get each push once and in order, however slow they are", arguments: [1, 7, 1000])
  func readers(limit: Int) async {
    let log = PushLog(limit: limit)
    let count = 500
    let seen = await withTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var seen: [Int] = []
          for await push in TestPushes(log: log) { seen.append(push.priority) }
          return seen
        }
      }
      for number in 1...count { log.append(Self.push(number)) }
      log.close()
      return await group.reduce(into: [[Int]]()) { $0.append($1) }
    }
    #expect(seen.count == 8)
    for numbers in seen {
      #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
      #expect(numbers.last == count)
      if limit > count { #expect(numbers.count == count) }
    }
    #expect(log.all.map(\.priority) == Array((1...count).suffix(limit)))
  }

  @Test("a reader that waits is woken by the next push")
  func wakes() async {
    let log = PushLog(limit: 3)
    async let first = log.push(from: 0)
    log.append(Self.push(1))
    let (push, next) = await first ?? (Self.push(0), 0)
    #expect(push.priority == 1 && next == 1)
  }

  /// A push that bears a number.
  private static func push(_ number: Int) -> TestPush {
    TestPush(
      user: "anna", device: "ipad", containerIdentifier: "iCloud.org.example.tests",
      kind: .alert, priority: number, topic: "org.example.tests", collapseID: nil,
      expiration: Date(timeIntervalSince1970: 0), id: UUID(), payload: Data())
  }
}
