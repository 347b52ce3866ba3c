import Foundation
import PropertyTesting
import Testing

@testable import SQLEngine
@testable import Storage

struct LogRemainsTests {
  private static let suffixes = ["", "-wal", "-shm"]

  /// Makes what a process leaves that is killed, and answers what it had in its store.
  private static func leave(_ path: String) async throws -> [StoreSample.Reading: String] {
    let open = path + "-open"
    let store = try await Store.open(
      at: open, configuration: StoreSample.configuration(.server))
    try await StoreSample.fill(store)
    try StoreSample.copy(open, to: path, suffixes: suffixes)
    await store.close()
    return try await StoreSample.model(of: open)
  }

  private static func start(_ path: String) async throws {
    let store = try await Store.open(
      at: path, configuration: StoreSample.configuration(.server))
    await store.close()
  }

  @Test("whatever became of the index, the store starts with all that it had")
  func flips() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      let model = try await Self.leave(path)
      let size = try StoreSample.size(path + "-shm")
      #expect(size >= 32_768)
      var random = SeededGenerator(seed: 21)
      for round in 0..<24 {
        try StoreSample.copy(path, to: copy, suffixes: Self.suffixes)
        // The header is what the look at the log goes by.
        let limit = round % 2 == 0 ? 136 : size
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          try StoreSample.flip(Int.random(in: 0..<limit * 8, using: &random), of: copy + "-shm")
        }
        try await Self.start(copy)
        for reading in [StoreSample.Reading.records, .feed, .users] {
          let store = try await Store.open(
            at: copy, configuration: StoreSample.configuration())
          #expect(
            try await StoreSample.read(reading, from: store) == model[reading],
            "round \(round), \(reading)")
          await store.close()
        }
      }
      try StoreSample.copy(path, to: copy, suffixes: Self.suffixes)
      #expect(truncate(copy + "-shm", 1_000) == 0)
      try await Self.start(copy)
    }
  }

  @Test("the log ends before a frame that was torn, whatever SQLite's checksum says of it")
  func tornFrame() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      let store = try await Store.open(
        at: path, configuration: StoreSample.configuration(.server))
      let test = try await TestStore(store)
      try await test.save("kept")
      try await test.save("torn")
      try StoreSample.copy(path, to: copy, suffixes: Self.suffixes)
      await store.close()
      // The seal of another version of the page, with a counterweight as it had it.
      let size = try StoreSample.size(copy + "-wal")
      let page = size - PageCache.pageSize
      try StoreSample.change(copy + "-wal", at: page, count: PageCache.pageSize) {
        $0.withUnsafeMutableBytes { PageSeal.put(on: $0.baseAddress!, number: 9_999) }
      }
      // The index knows that it was committed.
      #expect(await storeError { try await Self.start(copy) } == .corrupt)
      unlink(copy + "-shm")
      let reopened = try await Store.open(
        at: copy, configuration: StoreSample.configuration(.server))
      let again = try await TestStore(reopened)
      #expect(try await again.record("kept") != nil)
      #expect(try await again.record("torn") == nil)
      try await again.save("torn")
      await reopened.close()
    }
  }

  @Test("an index from before the machine was started shows nothing of what the log had")
  func fromBefore() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      _ = try await Self.leave(path)
      try StoreSample.copy(path, to: copy, suffixes: Self.suffixes)
      // The last commit, which a loss of power took.
      let size = try StoreSample.size(path + "-wal")
      #expect(truncate(copy + "-wal", size - SealedLog.frameBytes) == 0)
      #expect(await storeError { try await Self.start(copy) } == .corrupt)
      var times = [timespec](repeating: timespec(tv_sec: 1, tv_nsec: 0), count: 2)
      #expect(utimensat(AT_FDCWD, copy + "-shm", &times, 0) == 0)
      try await Self.start(copy)
    }
  }
}
