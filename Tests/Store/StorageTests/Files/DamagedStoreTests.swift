import CloudKitModel
import Foundation
import PropertyTesting
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct DamagedStoreTests {
  /// The error that a server's start ends with; nil when it starts.
  private static func startFailure(_ path: String) async throws -> StoreError? {
    do {
      let store = try await Store.open(
        at: path, configuration: StoreSample.configuration(.server))
      await store.close()
      return nil
    } catch let error as StoreError {
      return error
    }
  }

  /// Reads all that there is; what comes is what was written, or an error. Answers whether there was one.
  private static func compare(
    _ path: String, with model: [StoreSample.Reading: String], _ comment: String
  ) async throws -> Bool {
    let store: Store
    do {
      store = try await Store.open(at: path, configuration: StoreSample.configuration())
    } catch let error as StoreError {
      #expect(error.code == .corrupt || error.code == .cannotOpen, "\(comment): \(error)")
      return true
    }
    var hasFailed = false
    for reading in StoreSample.Reading.allCases.shuffled() {
      do {
        let found = try await StoreSample.read(reading, from: store)
        if found != model[reading] { Issue.record("\(comment): \(reading) differ") }
      } catch let error as StoreError {
        #expect(error.code == .corrupt, "\(comment): \(error)")
        hasFailed = true
      }
    }
    await store.close()
    return hasFailed
  }

  @Test(
    "a bit that flipped in a page of any kind keeps a server from starting, with the page named")
  func kindsOfPages() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      try await StoreSample.fill(path)
      let kinds = try StoreSample.pages(of: path)
      #expect(Set(kinds.keys) == ["leaf", "internal", "overflow", "free"])
      var random = SeededGenerator(seed: 1)
      for (kind, pages) in kinds.sorted(by: { $0.key < $1.key }) {
        for page in [random.pick(pages), random.pick(pages), random.pick(pages)] {
          try StoreSample.copy(path, to: copy)
          let bit = Int.random(in: 0..<4_088 * 8, using: &random)
          try StoreSample.flip((page - 1) * 4_096 * 8 + bit, of: copy)
          let error = try await Self.startFailure(copy)
          #expect(error?.code == .corrupt, "\(kind) page \(page), bit \(bit)")
          #expect(error?.reason.contains("page \(page) in '\(copy)'") == true, "\(kind), \(bit)")
          #expect(error?.reason.contains("restore") == true)
        }
      }
      // The header, all of it.
      for bit in 0..<100 * 8 {
        try StoreSample.flip(bit, of: path)
        let isRefused = Self.isRefused(path)
        #expect(isRefused, "bit \(bit) of the header")
        try StoreSample.flip(bit, of: path)
      }
      #expect(try await Self.startFailure(path) == nil)
    }
  }

  private static func isRefused(_ path: String) -> Bool {
    (try? StoreInspection(ofStoreAt: path, within: .seconds(60)).check()) == nil
  }

  @Test("bits that flip anywhere: all that is read is what was written, or an error")
  func property() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      try await StoreSample.fill(path)
      let model = try await StoreSample.model(of: path)
      let bits = try StoreSample.size(path) * 8
      var failures = 0
      for seed in Seeds.some(40) {
        var random = SeededGenerator(seed: seed)
        try StoreSample.copy(path, to: copy)
        for _ in 0..<Int.random(in: 1...12, using: &random) {
          try StoreSample.flip(Int.random(in: 0..<bits, using: &random), of: copy)
        }
        if try await Self.compare(copy, with: model, "seed \(seed)") { failures += 1 }
      }
      #expect(failures > 20, "hardly any of these flips was met")
    }
  }

  @Test("pages that are zero, of another place, or missing are not taken for good")
  func wholePages() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      try await StoreSample.fill(path)
      let model = try await StoreSample.model(of: path)
      let kinds = try StoreSample.pages(of: path)
      let leaves = try #require(kinds["leaf"])
      var random = SeededGenerator(seed: 3)
      for round in 0..<4 {
        let page = random.pick(leaves)
        try StoreSample.copy(path, to: copy)
        try StoreSample.change(copy, at: (page - 1) * 4_096, count: 4_096) {
          $0 = [UInt8](repeating: 0, count: 4_096)
        }
        _ = try await Self.compare(copy, with: model, "zero, round \(round)")
        #expect(try await Self.startFailure(copy)?.code == .corrupt, "zero page \(page)")

        let other = random.pick(leaves.filter { $0 != page })
        try StoreSample.copy(path, to: copy)
        var first: [UInt8] = []
        var second: [UInt8] = []
        try StoreSample.change(copy, at: (page - 1) * 4_096, count: 4_096) { first = $0 }
        try StoreSample.change(copy, at: (other - 1) * 4_096, count: 4_096) {
          (second, $0) = ($0, first)
        }
        try StoreSample.change(copy, at: (page - 1) * 4_096, count: 4_096) { $0 = second }
        _ = try await Self.compare(copy, with: model, "swapped, round \(round)")
        #expect(
          try await Self.startFailure(copy)?.code == .corrupt, "pages \(page) and \(other)")

        try StoreSample.copy(path, to: copy)
        let size = try StoreSample.size(path)
        let length = round == 0 ? size - 1 : Int.random(in: 1..<size, using: &random)
        #expect(truncate(copy, length) == 0)
        _ = try await Self.compare(copy, with: model, "cut at \(length)")
        #expect(try await Self.startFailure(copy) != nil, "cut at \(length)")
      }
      // An empty file is a store that has not been made yet, and anything else is none.
      try Data(repeating: 7, count: 50_000).write(to: URL(fileURLWithPath: copy))
      #expect(try await Self.startFailure(copy)?.code == .cannotOpen)
      try Data("SQLite format 3\0".utf8).write(to: URL(fileURLWithPath: copy))
      #expect(try await Self.startFailure(copy) != nil)
    }
  }

  @Test("a damaged frame of the write-ahead log is not taken for its end")
  func frames() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/a.sqlite", directory + "/b.sqlite")
      let store = try await Store.open(
        at: path, configuration: StoreSample.configuration(.server))
      try await StoreSample.fill(store)
      // A process that is killed leaves just these files behind.
      let crashed = directory + "/c.sqlite"
      try StoreSample.copy(path, to: crashed, suffixes: ["", "-wal", "-shm"])
      await store.close()
      let model = try await StoreSample.model(of: path)
      let size = try StoreSample.size(crashed + "-wal")
      #expect(size > 300 * SealedLog.frameBytes)
      try StoreSample.copy(crashed, to: copy, suffixes: ["", "-wal"])
      #expect(try await Self.startFailure(copy) == nil)
      #expect(try await Self.compare(copy, with: model, "as it was") == false)
      var random = SeededGenerator(seed: 5)
      for round in 0..<40 {
        // With the index that the process left, and without.
        let suffixes = round % 2 == 0 ? ["", "-wal", "-shm"] : ["", "-wal"]
        try StoreSample.copy(crashed, to: copy, suffixes: suffixes)
        // Without the index, an interrupted commit cannot be distinguished from a damaged last one.
        let limit = round % 2 == 0 ? size : size / 2
        let bit = Int.random(in: 0..<limit * 8, using: &random)
        try StoreSample.flip(bit, of: copy + "-wal")
        let error = try await Self.startFailure(copy)
        #expect(error?.code == .corrupt, "round \(round), bit \(bit)")
        #expect(error?.reason.contains("-wal'") == true, "\(error.debugDescription)")
      }
      try StoreSample.copy(crashed, to: copy, suffixes: ["", "-wal", "-shm"])
      #expect(truncate(copy + "-wal", size - SealedLog.frameBytes) == 0)
      #expect(try await Self.startFailure(copy)?.code == .corrupt)
      // What a loss of power leaves of the last commit is no damage.
      try StoreSample.copy(crashed, to: copy, suffixes: ["", "-wal"])
      #expect(truncate(copy + "-wal", size - 100) == 0)
      #expect(try await Self.startFailure(copy) == nil)
    }
  }

  @Test("commits that were broken off, one over the rest of another, are no damage")
  func brokenOff() async throws {
    try await withTemporaryDirectory { directory in
      let (path, crashed) = (directory + "/a.sqlite", directory + "/b.sqlite")
      let text = RecordValue.bytes(Data(repeating: 7, count: 20_000))
      func open(_ path: String) async throws -> (Store, TestStore) {
        let store = try await Store.open(
          at: path, configuration: StoreSample.configuration(.server))
        return (store, try await TestStore(store))
      }
      // The power goes in the middle of a large commit, and a small one is written over its beginning, in
      // the middle of which it goes again.
      let (store, test) = try await open(path)
      try await test.save("kept")
      let whole = try StoreSample.size(path + "-wal")
      try await test.save("large", ["text": text])
      try StoreSample.copy(path, to: crashed, suffixes: ["", "-wal"])
      await store.close()
      let log = crashed + "-wal"
      try StoreSample.flip((whole + 500) * 8, of: log)
      let (second, again) = try await open(crashed)
      #expect(try await again.record("large") == nil)
      try await again.save("small")
      let lengths = try StoreSample.size(log)
      try StoreSample.copy(crashed, to: path, suffixes: ["", "-wal"])
      await second.close()
      #expect(lengths > whole)
      try StoreSample.flip((whole + 500) * 8, of: path + "-wal")
      let (third, last) = try await open(path)
      #expect(try await last.record("kept") != nil)
      #expect(try await last.record("small") == nil)
      await third.close()
    }
  }

  @Test("a server that meets a damaged page gives nothing of it, and from then on nothing at all")
  func running() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await StoreSample.fill(path)
      let model = try await StoreSample.model(of: path)
      let kinds = try StoreSample.pages(of: path)
      var configuration = StoreSample.configuration(.server)
      configuration.tuning.inspectionSeconds = 0
      configuration.tuning.inspectionPause = 10_000_000
      let store = try await Store.open(at: path, configuration: configuration)
      let told = Mutex<[String]>([])
      store.setDamageHandler { reason in told.withLock { $0.append(reason) } }
      #expect(store.damage == nil)
      // All but those that it has looked at.
      for page in (kinds["leaf"] ?? []) + (kinds["overflow"] ?? []) where page > 60 {
        try StoreSample.flip((page - 1) * 4_096 * 8 + 999, of: path)
      }
      var failures = 0
      for reading in StoreSample.Reading.allCases {
        do {
          let found = try await StoreSample.read(reading, from: store)
          #expect(found == model[reading], "\(reading)")
          #expect(failures == 0, "\(reading) came after damage was met")
        } catch let error as StoreError {
          #expect(error.code == .corrupt && error.reason.contains(path), "\(error)")
          failures += 1
        }
      }
      #expect(failures > 3)
      #expect(told.withLock { $0 } == [store.damage])
      #expect(store.metrics.fault == store.damage)
      #expect(await storeError { try await store.checkWriting() } == .corrupt)
      await store.close()
    }
  }

  @Test("pages that nobody reads are looked at while the server runs")
  func beside() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await StoreSample.fill(path)
      let free = try #require(try StoreSample.pages(of: path)["free"]?.last)
      var configuration = StoreSample.configuration(.server)
      configuration.tuning.inspectionSeconds = 0
      configuration.tuning.inspectionPause = 0
      for isDamaged in [false, true] {
        if isDamaged { try StoreSample.flip((free - 1) * 4_096 * 8 + 5_000, of: path) }
        let store = try await Store.open(at: path, configuration: configuration)
        let test = try await TestStore(store)
        if isDamaged {
          try await eventually("damage is found") { store.damage != nil }
          #expect(store.damage?.contains("page \(free) ") == true)
        } else {
          for number in 0..<50 { try await test.save("new\(number)") }
          #expect(store.damage == nil)
        }
        await store.close()
      }
    }
  }

  @Test("a file that is cut while it is read is an error, and no end of the process")
  func cut() async throws {
    try await withTemporaryDirectory { directory in
      let path = directory + "/a.sqlite"
      try await StoreSample.fill(path)
      let store = try await Store.open(
        at: path, configuration: StoreSample.configuration())
      #expect(truncate(path, 8_192) == 0)
      #expect(
        await storeError { _ = try await StoreSample.read(.records, from: store) } == .corrupt)
      await store.close()
    }
  }

  @Test("the look at a store tells each damaged page, and so do backups")
  func tools() async throws {
    try await withTemporaryDirectory { directory in
      let (path, copy) = (directory + "/petrel.sqlite", directory + "/b.sqlite")
      try await StoreSample.fill(path)
      let kinds = try StoreSample.pages(of: path)
      for kind in ["leaf", "overflow", "free"] {
        let page = try #require(kinds[kind]?.last)
        try StoreSample.copy(path, to: copy)
        try StoreSample.flip((page - 1) * 4_096 * 8 + 77, of: copy)
        let found = try await StoreExamination.look(
          atStoreAt: copy, depth: .quick, within: .seconds(60))
        #expect(found.faults.contains { $0.contains("page \(page) ") }, "\(kind): \(found.faults)")
        let refused = await storeError {
          try await StoreBackup.make(ofStoreAt: copy, in: directory + "/copy")
        }
        #expect(refused == .corrupt, "\(kind)")
        #expect(!FileManager.default.fileExists(atPath: directory + "/copy"))
        #expect(!FileManager.default.fileExists(atPath: directory + "/copy.partial"))
      }
      try await StoreBackup.make(ofStoreAt: path, in: directory + "/good")
      let backup = directory + "/good/petrel.sqlite"
      let model = try await StoreSample.model(of: path)
      var random = SeededGenerator(seed: 9)
      for round in 0..<6 {
        let page = random.pick(kinds["leaf"] ?? [])
        let bit = (page - 1) * 4_096 * 8 + Int.random(in: 0..<4_080 * 8, using: &random)
        try StoreSample.flip(bit, of: backup)
        let refused = await storeError {
          try await StoreBackup.restore(
            from: directory + "/good", toStoreAt: directory + "/new/petrel.sqlite")
        }
        #expect(refused == .corrupt, "round \(round)")
        #expect(!FileManager.default.fileExists(atPath: directory + "/new/petrel.sqlite"))
        try StoreSample.flip(bit, of: backup)
      }
      try await StoreBackup.restore(
        from: directory + "/good", toStoreAt: directory + "/new/petrel.sqlite")
      #expect(
        try await Self.compare(directory + "/new/petrel.sqlite", with: model, "restored") == false)
    }
  }
}
