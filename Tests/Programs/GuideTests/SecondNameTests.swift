import CloudKit
import Foundation
import JSONCoding
import PetrelCloudKit
import RepositoryFiles
import Testing

/// The client under the name that it has on Apple's systems.
struct SecondNameTests {
  @Test("A file may import the client under both names, and they are one module")
  func bothNames() throws {
    let container: CloudKit.CKContainer? = notesContainer(
      deviceID: "phone", apiToken: "a", stateDirectory: FileManager.default.temporaryDirectory)
    #expect(try #require(container).containerIdentifier == "iCloud.com.example.app")
    #expect(PetrelCloudKit.CKRecord.self == CloudKit.CKRecord.self)
  }

  @Test("On Apple's systems both products have one module, PetrelCloudKit, and nothing of Linux")
  func manifest() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let ours = try RepositoryFile.text("Package.swift")
    let there = ours.replacing("#if !os(Linux)", with: "#if os(Linux)")
    #expect(there != ours)
    try there.write(
      to: folder.appendingPathComponent("Package.swift"), atomically: true, encoding: .utf8)
    try FileManager.default.createSymbolicLink(
      at: folder.appendingPathComponent("Sources"),
      withDestinationURL: RepositoryFile.url("Sources"))

    let package = try Self.description(of: folder)
    let products = try #require(package["products"]?.array)
    #expect(Set(products.map { $0["name"] }) == ["CloudKit", "PetrelCloudKit"])
    #expect(products.allSatisfy { $0["targets"] == ["PetrelCloudKit"] })
    let targets = try #require(package["targets"]?.array)
    #expect(
      targets.contains { $0["name"] == "PetrelCloudKit" && $0["path"] == "Sources/Client/CloudKit" }
    )
    let names = Set(targets.map { $0["name"] })
    #expect(names.isDisjoint(with: ["CloudKit", "CoreLocation", "CCurl", "PetrelServer"]))
  }

  /// Returns the package manager's description of a package.
  private static func description(of folder: URL) throws -> JSONValue {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "swift", "package", "--package-path", folder.path, "describe", "--type", "json",
    ]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    // Where the folder of a package is new, the package manager may write a line before the JSON.
    return try JSONValue(parsing: Data(data.drop { $0 != UInt8(ascii: "{") }))
  }
}
