import Synchronization
import Testing
import Waiting

@testable import DatabaseAPI

struct CourierQueueTests {
  /// A request that is under way until it is let go.
  private final class Visit: Sendable {
    private let state = Mutex<(isLetGo: Bool, continuation: CheckedContinuation<Void, Never>?)>(
      (false, nil))

    func wait() async {
      await withCheckedContinuation { continuation in
        let isLetGo = state.withLock { state in
          if !state.isLetGo { state.continuation = continuation }
          return state.isLetGo
        }
        if isLetGo { continuation.resume() }
      }
    }

    func letGo() {
      let continuation = state.withLock { state in
        state.isLetGo = true
        return state.continuation
      }
      continuation?.resume()
    }
  }

  /// Which requests came to be looked after, in order.
  private final class Beginnings: Sendable {
    private let state = Mutex<[Int]>([])

    var numbers: [Int] { state.withLock { $0 } }

    func add(_ number: Int) { state.withLock { $0.append(number) } }
  }

  @Test("no more than there are places, the others one by one in the order in which they came")
  func keepsToPlacesAndOrder() async throws {
    let queue = CourierQueue(places: 3)
    let visits = (0..<20).map { _ in Visit() }
    let begun = Beginnings()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in visits.indices {
        group.addTask {
          await queue.serve(for: "user\(number)") {
            begun.add(number)
            await visits[number].wait()
          }
        }
        let waiting = max(0, number - 2)
        try await eventually("the request waits") { queue.waitingCount == waiting }
        try await eventually("there is a place") {
          begun.numbers.count == min(3, number + 1)
        }
      }
      #expect(Set(begun.numbers) == [0, 1, 2])
      // The one who leaves makes room for exactly one.
      for number in visits.indices {
        visits[number].letGo()
        let count = min(20, number + 4)
        try await eventually("the next has a place") { begun.numbers.count == count }
        #expect(Array(begun.numbers[3..<count]) == Array(3..<count))
        #expect(queue.waitingCount == 20 - count)
      }
      try await group.waitForAll()
    }
  }

  @Test("a user's readers have two places, and users take turns")
  func usersTakeTurns() async throws {
    let queue = CourierQueue(places: 3)
    let visits = (0..<8).map { _ in Visit() }
    let users = ["many", "many", "many", "many", "many", "many", "few", "few"]
    let begun = Beginnings()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in visits.indices {
        group.addTask {
          await queue.serve(for: users[number]) {
            begun.add(number)
            await visits[number].wait()
          }
        }
        try await eventually("the request is in the queue") {
          begun.numbers.count + queue.waitingCount == number + 1
        }
      }
      // The third place is for the other user although five of the first came before.
      try await eventually("the places are taken") { begun.numbers.count == 3 }
      #expect(begun.numbers.sorted() == [0, 1, 6])
      for (leaves, next) in [(0, 7), (1, 2), (6, 3), (2, 4), (3, 5)] {
        visits[leaves].letGo()
        try await eventually("the next has a place") { begun.numbers.last == next }
      }
      for number in [4, 5, 7] { visits[number].letGo() }
      try await group.waitForAll()
    }
  }

  @Test("a place is given back by what fails")
  func givesPlaceBackAfterFailure() async throws {
    struct Failure: Error {}
    let queue = CourierQueue(places: 1)
    for _ in 0..<3 {
      await #expect(throws: Failure.self) { try await queue.serve(for: "a") { throw Failure() } }
    }
    #expect(await queue.serve(for: "a") { 7 } == 7)
    #expect(queue.waitingCount == 0)
  }
}
