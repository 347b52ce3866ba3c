import Foundation
import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage
@testable import StoreTools

struct AssetFolderTests {
  private func withSchema(_ body: (PostgreSQLAddress, String) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await withTemporaryDirectory { directory in
      try await body(try PostgreSQLAddress(schema.address), directory)
    }
    try await PostgreSQLServer.shared.drop(schema)
  }

  private func start(_ address: PostgreSQLAddress, _ folder: String) async throws {
    let store = try await Store.open(at: .postgreSQL(address, assets: folder))
    await store.close()
  }

  private func refusal(_ address: PostgreSQLAddress, _ folder: String) async throws -> String {
    let error = await #expect(throws: StoreError.self) { try await start(address, folder) }
    #expect(error?.code == .cannotOpen)
    return try #require(error?.reason)
  }

  /// Has the store an asset, in the folder that it has by now.
  private func upload(_ address: PostgreSQLAddress, _ folder: String) async throws {
    let store = try await Store.open(at: .postgreSQL(address, assets: folder))
    let test = try await TestStore(store)
    _ = try await test.upload("bytes", receipt: "r1", record: "n1")
    await store.close()
  }

  @Test("without assets in the store a server with another folder starts, and takes none")
  func noAssets() async throws {
    try await withSchema { address, directory in
      try await start(address, directory + "/assets")
      let other = directory + "/other"
      let store = try await Store.open(at: .postgreSQL(address, assets: other))
      let test = try await TestStore(store)
      let error = await #expect(throws: StoreError.self) {
        _ = try await test.upload("bytes", receipt: "r1", record: "n1")
      }
      #expect(error?.code == .assetFailed)
      #expect(error?.reason.contains("the folder \(other) is not the folder") == true)
      await #expect(throws: StoreError.self) {
        _ = try await store.assets.files.open(AssetName(database: test.publicID, file: "r1"))
      }
      // It does not take the others' files for gone.
      try await store.maintenance.trim(at: .now)
      await store.close()
      #expect(!FileManager.default.fileExists(atPath: other + "/" + FileAssetStore.identityFile))
    }
  }

  @Test("a server with another folder does not start, and leaves that as it was")
  func otherFolder() async throws {
    try await withSchema { address, directory in
      try await start(address, directory + "/assets")
      try await upload(address, directory + "/assets")
      let identity = directory + "/assets/" + FileAssetStore.identityFile
      let line = try String(contentsOfFile: identity, encoding: .utf8)
        .trimmingCharacters(in: .newlines)
      let other = directory + "/other"
      let reason = try await refusal(address, other)
      #expect(reason.contains("the folder \(other) is not the folder"))
      #expect(reason.contains("write the line \(line) into"))
      #expect(!FileManager.default.fileExists(atPath: other + "/" + FileAssetStore.identityFile))
      // The files were copied without it, and the operator does what the message says.
      try "\(line)\n".write(
        toFile: other + "/" + FileAssetStore.identityFile, atomically: true, encoding: .utf8)
      try await start(address, other)
    }
  }

  @Test("a folder of another store is refused")
  func otherStore() async throws {
    try await withSchema { address, directory in
      let second = try await PostgreSQLServer.shared.makeSchema()
      try await start(address, directory + "/assets")
      try await start(PostgreSQLAddress(second.address), directory + "/others")
      try await upload(address, directory + "/assets")
      #expect(
        try await refusal(address, directory + "/others").contains("belongs to another store"))
      try await PostgreSQLServer.shared.drop(second)
    }
  }

  @Test("tools and stores in a file need no identity")
  func tools() async throws {
    try await withSchema { address, directory in
      try await start(address, directory + "/assets")
      let tool = try await Store.open(
        at: .postgreSQL(address, assets: directory + "/elsewhere"),
        configuration: StoreConfiguration(role: .tool))
      await tool.close()
      let file = try await Store.open(at: directory + "/store.sqlite")
      await file.close()
      #expect(
        !FileManager.default.fileExists(
          atPath: directory + "/store.sqlite-assets/" + FileAssetStore.identityFile))
    }
  }

  @Test("a store that is moved brings the identity of its folder along")
  func moves() async throws {
    try await withSchema { address, directory in
      let from = StoreLocation.postgreSQL(address, assets: directory + "/assets")
      try await upload(address, directory + "/assets")
      let file = StoreLocation.file(path: directory + "/petrel.sqlite")
      _ = try await StoreMove.run(from: from, to: file)
      let schema = try await PostgreSQLServer.shared.makeSchema()
      let back = try PostgreSQLAddress(schema.address)
      _ = try await StoreMove.run(
        from: file, to: .postgreSQL(back, assets: directory + "/back"))
      try await start(back, directory + "/back")
      try await PostgreSQLServer.shared.drop(schema)
    }
  }
}
