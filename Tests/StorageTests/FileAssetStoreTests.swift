import Foundation
import Testing

@testable import Storage

@Suite("Assets in files")
struct FileAssetStoreTests {
  private let name = AssetName(database: DatabaseID(rawValue: 7), file: "ab-file")

  @Test("a file that arrived is moved, not copied, and read piece by piece")
  func moves() async throws {
    try await withTemporaryDirectory { directory in
      let store = try FileAssetStore(directory: directory + "/assets", clearsArrivals: true)
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
      let store = try FileAssetStore(directory: directory, clearsArrivals: true)
      try await store.keep(.data(Data("abc".utf8)), as: name)
      let arrivals = try #require(store.arrivals)
      try Data("left".utf8).write(to: URL(fileURLWithPath: arrivals + "/body"))
      _ = try FileAssetStore(directory: directory, clearsArrivals: false)
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals) == ["body"])
      let next = try FileAssetStore(directory: directory, clearsArrivals: true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: arrivals).isEmpty)
      let reader = try #require(try await next.open(name))
      #expect(try await reader.read(at: 0, count: 10) == Data("abc".utf8))
    }
  }

  @Test("a file that is not there is an error that names it")
  func missing() async throws {
    try await withTemporaryDirectory { directory in
      let store = try FileAssetStore(directory: directory, clearsArrivals: true)
      let error = await #expect(throws: StoreError.self) {
        try await store.keep(.file(path: directory + "/nothing"), as: name)
      }
      #expect(error?.code == .assetFailed)
      #expect(error?.reason.contains(directory + "/nothing") == true)
    }
  }
}
