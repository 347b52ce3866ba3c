import CloudKitModel
import Foundation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import Storage

struct StoreWriterTests {
  @Test("in a shared commit a write that fails is undone alone", arguments: StoreEngine.allCases)
  func failing(_ engine: StoreEngine) async throws {
    try await engine.withStore { test in
      let store = test.store
      let gate = DispatchSemaphore(value: 0)
      // While one write holds the writer, the others gather for the next commit.
      let isHeld = Mutex(false)
      async let blocker: Void = store.transactions.write { _ in
        isHeld.withLock { $0 = true }
        gate.wait()
      }
      try await eventually("a write holds the writer") { isHeld.withLock { $0 } }
      let results = await withTaskGroup(of: (Int, Bool).self) { group in
        for number in 0..<20 {
          group.addTask {
            let result: Void? = try? await store.transactions.write { transaction in
              _ = try transaction.connection.run(
                """
                INSERT INTO users (name, folded_name, user_record_name, created)
                VALUES ($1, $1, $1, 0)
                """,
                [.text("u\(number)")])
              if number % 3 == 0 { throw StoreError(.exists, "made to fail") }
              if number == 1 {
                try transaction.connection.run("NO STATEMENT", [])
              }
            }
            return (number, result != nil)
          }
        }
        group.addTask {
          gate.signal()
          return (-1, false)
        }
        return await group.reduce(into: Set<Int>()) { if $1.1 { $0.insert($1.0) } }
      }
      try await blocker
      let expected = Set((0..<20).filter { $0 % 3 != 0 && $0 != 1 })
      #expect(results == expected)
      let kept = try await test.store.accounts.users().map(\.name)
      #expect(Set(kept) == Set(expected.map { "u\($0)" }))
    }
  }

  @Test("too many waiting writes are refused at once", arguments: StoreEngine.allCases)
  func overloaded(_ engine: StoreEngine) async throws {
    try await engine.withStore {
      $0.waitingWrites = 4
    } _: { test in
      let store = test.store
      let gate = DispatchSemaphore(value: 0)
      let isHeld = Mutex(false)
      async let blocker: Void = store.transactions.write { _ in
        isHeld.withLock { $0 = true }
        gate.wait()
      }
      try await eventually("a write holds the writer") { isHeld.withLock { $0 } }
      let refused = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<12 {
          group.addTask {
            do {
              _ = try await store.accounts.addUser(named: "u\(number)", at: .now)
              return false
            } catch {
              return (error as? StoreError)?.code == .overloaded
            }
          }
        }
        var refused = 0
        for await isRefused in group where isRefused {
          refused += 1
          if refused == 8 { gate.signal() }
        }
        return refused
      }
      try await blocker
      #expect(refused == 8)
      #expect(try await store.accounts.users().count == 4)
    }
  }
}
