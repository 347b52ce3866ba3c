import Foundation
import StoreModel
import Testing

@testable import Storage

struct FileAssetStoreTests {
  @Test(
    "the folder of a path",
    arguments: [
      ("d", ""), ("d/", ""), ("data", ""), ("d/x", "d"), ("d//x/", "d"), ("/x", "/"), ("//x", "/"),
      ("/", "/"), ("/a/b", "/a"), ("./x", "."), ("ä/x", "ä"),
    ])
  func folder(_ path: String, _ folder: String) {
    #expect(AssetFiles.folder(of: path) == folder)
  }

  private let name = AssetName(database: DatabaseID(rawValue: 7), file: "ab-file")

  @Test("a file that arrived is moved, not copied, and read piece by piece")
  func moves() async throws {
    try await withTemporaryDirectory { directory in
      let store = try FileAssetStore(directory: directory + "/assets", use: .alone)
      let arrivals = try #require(store.arrivals)
      let bytes = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try bytes.write(to: URL(fileURLWithPath: arrivals + "/body"))
      try await store.keep(.file(path: arrivals + "/body"), as: name)
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals).isEmpty)
      let reader = try #require(try await store.open(name))
      #expect(reader.size == 300_000)
      #expect(try await reader.read(at: 1000, count: 10) == bytes[1000..<1010])
      #expect(try await reader.read(at: 299_999, count: 10).count == 1)
      try await store.remove(name)
      #expect(try await store.open(name) == nil)
      #expect(try await reader.read(at: 0, count: 300_000) == bytes)
      try await store.remove(name)
    }
  }

  @Test("what is kept is there for the next process, what was arriving is not")
  func reopens() async throws {
    try await withTemporaryDirectory { directory in
      let store = try FileAssetStore(directory: directory, use: .alone)
      try await store.keep(.data(Data("abc".utf8)), as: name)
      let arrivals = try #require(store.arrivals)
      try Data("left".utf8).write(to: URL(fileURLWithPath: arrivals + "/body"))
      _ = try FileAssetStore(directory: directory, use: .tool)
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals) == ["body"])
      let next = try FileAssetStore(directory: directory, use: .alone)
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals).isEmpty)
      let reader = try #require(try await next.open(name))
      #expect(try await reader.read(at: 0, count: 10) == Data("abc".utf8))
    }
  }

  @Test("bytes that cannot be stored leave no file behind; a file that cannot stays with its owner")
  func failures() async throws {
    try await withTemporaryDirectory { directory in
      let store = try FileAssetStore(directory: directory, use: .alone)
      let arrivals = try #require(store.arrivals)
      // In place of the database's folder there is a file.
      try Data().write(to: URL(fileURLWithPath: directory + "/7"))
      await #expect(throws: StoreError.self) {
        try await store.keep(.data(Data("abc".utf8)), as: name)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals).isEmpty)
      try Data("body".utf8).write(to: URL(fileURLWithPath: arrivals + "/body"))
      await #expect(throws: StoreError.self) {
        try await store.keep(.file(path: arrivals + "/body"), as: name)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals) == ["body"])
    }
  }

  @Test("a file that is not there is an error that names it")
  func missing() async throws {
    try await withTemporaryDirectory { directory in
      let store = try FileAssetStore(directory: directory, use: .alone)
      let error = await #expect(throws: StoreError.self) {
        try await store.keep(.file(path: directory + "/nothing"), as: name)
      }
      #expect(error?.code == .assetFailed)
      #expect(error?.reason.contains(directory + "/nothing") == true)
    }
  }

  @Test("servers that share the folder leave each other's arrivals alone")
  func shares() async throws {
    try await withTemporaryDirectory { directory in
      let first = try FileAssetStore(directory: directory, use: .shared)
      let arriving = try #require(first.arrivals) + "/body"
      try Data("arriving".utf8).write(to: URL(fileURLWithPath: arriving))
      let second = try FileAssetStore(directory: directory, use: .shared)
      #expect(first.arrivals != second.arrivals)
      try await second.removeLeftovers()
      try await first.keep(.file(path: arriving), as: name)
      let reader = try #require(try await second.open(name))
      #expect(try await reader.read(at: 0, count: 20) == Data("arriving".utf8))
      // Both may come to remove it.
      try await first.remove(name)
      try await second.remove(name)
      #expect(try await first.open(name) == nil)
    }
  }

  @Test("what servers left that died is removed when it is old by the file system's clock")
  func leftovers() async throws {
    try await withTemporaryDirectory { directory in
      let manager = FileManager.default
      let all = directory + "/arrivals"
      let living = try FileAssetStore(directory: directory, use: .shared)
      let own = try #require(living.arrivals)
      let old = Date(timeIntervalSinceNow: -100_000)
      try manager.createDirectory(atPath: all + "/dead", withIntermediateDirectories: true)
      for path in ["/dead/old", "/dead/new", "/old"].map({ all + $0 }) + [own + "/mine"] {
        try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        if !path.hasSuffix("new") {
          try manager.setAttributes([.modificationDate: old], ofItemAtPath: path)
        }
      }
      try manager.setAttributes([.modificationDate: old], ofItemAtPath: own)
      try await living.removeLeftovers()
      #expect(try manager.contentsOfDirectory(atPath: all + "/dead") == ["new"])
      #expect(
        Set(try manager.contentsOfDirectory(atPath: all)) == [
          "dead", (own as NSString).lastPathComponent,
        ])
      #expect(try manager.contentsOfDirectory(atPath: own).isEmpty)
      // Its own folder was touched, so that no other takes it for a dead server's.
      let touched = try #require(
        try manager.attributesOfItem(atPath: own)[.modificationDate] as? Date)
      #expect(touched.timeIntervalSince(old) > 50_000)
      try manager.removeItem(atPath: own)
      try await living.removeLeftovers()
      #expect(manager.fileExists(atPath: own))
    }
  }
}
