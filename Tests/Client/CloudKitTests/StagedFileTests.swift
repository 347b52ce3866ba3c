import Foundation
import Testing

@testable import CloudKit

struct StagedFileTests {
  @Test("a downloaded file stays for its lifetime, and as long as an object refers to it")
  func lifetime() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func isThere(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }
    let (kept, released) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
    for url in [kept, released] { try Data([1]).write(to: url) }
    let asset = CKAsset(fileURL: nil, stored: nil)
    asset.setFile(StagedFile(kept))
    _ = StagedFile(released)

    StagedFile.removeReleased(at: .now + StagedFile.lifetime - .seconds(60))
    #expect(isThere(kept) && isThere(released))
    StagedFile.removeReleased(at: .now + StagedFile.lifetime)
    #expect(isThere(kept) && !isThere(released))
    #expect(asset.fileURL == kept)
  }
}
