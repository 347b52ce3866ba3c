import Foundation
import Testing

@testable import CloudKit

struct SealedFileTests {
  @Test("What was written is read, whatever it holds", arguments: [0, 1, 5000])
  func roundTrip(size: Int) async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) })
      try SealedFile.seal(Data("former".utf8), as: .operation, at: folder + "/a")
      try SealedFile.seal(content, as: .operation, at: folder + "/a")
      #expect(try SealedFile.read(folder + "/a", as: .operation) == content)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a"])
    }
  }

  @Test("A file that is not there is nil")
  func absent() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      #expect(try SealedFile.read(folder + "/a", as: .operation) == nil)
    }
  }

  @Test("Each damaged byte and each cut is noticed, and the error names the file")
  func damage() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let path = folder + "/a"
      try SealedFile.seal(Data("some\ncontent".utf8), as: .operation, at: path)
      let whole = try #require(FileManager.default.contents(atPath: path))
      for index in whole.indices {
        var damaged = whole
        damaged[index] ^= 1
        try damaged.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: CKError.self) { try SealedFile.read(path, as: .operation) }
        #expect(error?.code == .internalError)
        #expect(error?.localizedDescription.contains(path) == true)
        try whole.prefix(index).write(to: URL(fileURLWithPath: path))
        #expect(throws: CKError.self) { try SealedFile.read(path, as: .operation) }
      }
    }
  }

  @Test("A file of another content is refused")
  func otherForm() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      try SealedFile.seal(Data("a".utf8), as: .operation, at: folder + "/a")
      #expect(throws: CKError.self) { try SealedFile.read(folder + "/a", as: .session) }
    }
  }

  @Test("Where nothing can be written the error says so")
  func unwritable() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      let error = #expect(throws: CKError.self) {
        try SealedFile.seal(Data(), as: .operation, at: folder + "/none/a")
      }
      #expect(error?.localizedDescription.contains("No such file") == true)
    }
  }

  @Test("A folder's lock has one holder at a time")
  func lock() async throws {
    try await withTemporaryFolder { (folder: String) async throws in
      var held = FolderLock.take(of: folder)
      #expect(held != nil)
      #expect(FolderLock.take(of: folder) == nil)
      held = nil
      held = FolderLock.take(of: folder)
      #expect(held != nil)
      #expect(FolderLock.take(of: folder + "/none") == nil)
    }
  }
}
