import CloudKit
import PetrelTesting
import RepositoryFiles
import Testing

/// The code of the guide runs, and is the code that the pages show.
struct GuideCodeTests {
  /// The pages whose Swift code must be in a file that is compiled.
  static let pages = [
    "README.md", "docs/guide/app-in-ci.md", "docs/guide/moving-from-icloud.md",
    "docs/guide/sharing.md", "docs/guide/sync-engine.md", "docs/reference/localization.md",
    "docs/reference/notification-log.md",
    "Sources/Client/CloudKit/CloudKit.docc/SavingASubscription.md",
    "Sources/Client/CloudKit/CloudKit.docc/ReceivingNotifications.md",
    "Sources/Testing/PetrelTesting/PetrelTesting.docc/TestingASubscription.md",
    "Sources/Testing/PetrelTesting/PetrelTesting.docc/FailuresAndTime.md",
  ]

  @Test("Each Swift block of a page is code that is compiled here", arguments: pages)
  func blocks(page: String) throws {
    let compiled = try Self.sources().map(Self.lines)
    let blocks = Self.blocks(of: try RepositoryFile.text(page), language: "swift")
    #expect(!blocks.isEmpty)
    for block in blocks where !Self.isManifest(block) {
      #expect(
        compiled.contains { $0.contains(Self.lines(block)) },
        "\(page) shows code that no file of Examples or GuideTests has: \(block)")
    }
  }

  @Test("All pages of the guide that have Swift code are among these")
  func guidePages() throws {
    let folder = RepositoryFile.url("docs/guide").path
    for page in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let text = try RepositoryFile.text("docs/guide/\(page)")
      if text.contains("```swift") { #expect(Self.pages.contains("docs/guide/\(page)")) }
    }
  }

  /// The tutorials: the folder of their code, the steps, and the file that runs and is the last step.
  static let tutorials = [
    (
      "Sources/Client/CloudKit/CloudKit.docc/Resources", ["first-1.swift", "first-2.swift"],
      "first-3.swift", "Examples/FirstProgram/main.swift"
    ),
    (
      "Sources/Testing/PetrelTesting/PetrelTesting.docc/Resources",
      ["test-1.swift", "test-2.swift"], "test-3.swift",
      "Tests/Programs/GuideTests/PinnedNotesTests.swift"
    ),
  ]

  @Test("The last step of each tutorial is code that runs, and the steps lead to it")
  func tutorial() throws {
    for (folder, steps, last, running) in Self.tutorials {
      let end = try RepositoryFile.text("\(folder)/\(last)")
      #expect(end == (try RepositoryFile.text(running)), "\(last)")
      let lines = Set(end.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) })
      for step in steps {
        let text = try RepositoryFile.text("\(folder)/\(step)")
        // The first program saves one constant record before it takes an argument.
        let foreign = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
          .filter { !lines.contains($0) }
        #expect(
          foreign.allSatisfy { $0 == #"earthquake["magnitude"] = 6.4"# }, "\(step): \(foreign)")
      }
    }
  }

  @Test("Each step of the tutorial on subscriptions compiles")
  func steps() throws {
    let programs = URL(
      fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    ).deletingLastPathComponent()
    let (folder, steps, _, _) = Self.tutorials[0]
    let maps = ["System/CCurl", "Client/CCloudKitEnumerations"].map {
      RepositoryFile.url("Sources/\($0)/module.modulemap").path
    }
    for step in steps {
      try Self.run(
        "swiftc", "-typecheck", "-swift-version", "6",
        "-I", programs.appendingPathComponent("Modules").path,
        "-Xcc", "-fmodule-map-file=\(maps[0])", "-Xcc", "-fmodule-map-file=\(maps[1])",
        RepositoryFile.url("\(folder)/\(step)").path)
    }
  }

  @Test("No two pages of the guide add the same user, so one server does for several pages")
  func users() throws {
    var pages: [String: String] = [:]
    let folder = RepositoryFile.url("docs/guide").path
    for page in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      let text = try RepositoryFile.text("docs/guide/\(page)")
      let commands = text.split(separator: "\n").filter { $0.hasPrefix("    ") }
      for match in commands.flatMap({ $0.matches(of: /users add (\w+)/) }) {
        let other = pages.updateValue(page, forKey: String(match.1))
        #expect(other == nil, "\(page) adds \(match.1), as \(other ?? "") does")
      }
    }
    #expect(pages.count >= 5)
  }

  @Test("The packages that the guide shows can be read by the package manager")
  func manifests() throws {
    let manifests = try Self.pages.flatMap {
      Self.blocks(of: try RepositoryFile.text($0), language: "swift").filter(Self.isManifest)
    }
    #expect(manifests.count >= 3)
    for manifest in manifests { try Self.readPackage(manifest) }
  }

  @Test("A copy of the public database follows its changes")
  func publicChanges() async throws {
    let cloud = try await TestCloud()
    let station = cloud.container(user: "station", device: "sensor").publicCloudDatabase
    for name in ["fiji", "chile"] {
      let recordID = CKRecord.ID(recordName: name)
      try await station.save(CKRecord(recordType: "Earthquake", recordID: recordID))
    }
    var copy = FollowedEarthquakes(
      cloud.container(user: "anna", device: "iphone").publicCloudDatabase)
    try await copy.follow()
    #expect(copy.names == ["fiji", "chile"])

    try await station.deleteRecord(withID: CKRecord.ID(recordName: "fiji"))
    try await copy.follow()
    #expect(copy.names == ["chile"])
  }

  @Test("The notification log is read since a token")
  func notificationLog() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone")
    try await Alerts(database: phone.publicCloudDatabase).subscribe(magnitude: 6)
    let station = cloud.container(user: "station", device: "sensor").publicCloudDatabase
    let earthquake = CKRecord(recordType: "Earthquake")
    earthquake["magnitude"] = 6.4
    try await station.save(earthquake)
    await cloud.settle()

    var shown: [CKRecord.ID?] = []
    let token = try await NotificationReading.read(
      phone, since: nil, reloadFromTheDatabases: {},
      show: { shown.append(($0 as? CKQueryNotification)?.recordID) })
    #expect(shown == [earthquake.recordID])
    _ = try await NotificationReading.read(
      phone, since: token, reloadFromTheDatabases: {}, show: { _ in shown.append(nil) })
    #expect(shown == [earthquake.recordID])
  }

  /// Whether a block is a part of a `Package.swift`.
  private static func isManifest(_ block: String) -> Bool {
    block.hasPrefix("dependencies:") || block.hasPrefix(".target(")
  }

  /// The code blocks of a page in a language.
  private static func blocks(of page: String, language: String) -> [String] {
    var blocks: [String] = []
    var block: [Substring]?
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if block != nil, text == "```" {
        blocks.append(block?.joined(separator: "\n") ?? "")
        block = nil
      } else if block != nil {
        block?.append(line)
      } else if text == "```\(language)" {
        block = []
      }
    }
    return blocks
  }

  /// A text without the indentation of its lines, and without empty lines.
  private static func lines(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }.joined(separator: "\n")
  }

  /// The files that are compiled with these tests or as examples.
  private static func sources() throws -> [String] {
    try ["Examples", "Tests/Programs/GuideTests"].flatMap { folder in
      let files = FileManager.default.enumerator(
        at: RepositoryFile.url(folder), includingPropertiesForKeys: nil)
      return try (files?.compactMap { $0 as? URL } ?? [])
        .filter { $0.pathExtension == "swift" && $0.lastPathComponent != "GuideCodeTests.swift" }
        .map { try String(contentsOf: $0, encoding: .utf8) }
    }
  }

  /// Has the package manager read a package with this manifest.
  private static func readPackage(_ part: String) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // A page that shows a target alone has shown the dependency before.
    let members =
      part.hasPrefix(".target(")
      ? """
      dependencies: [.package(url: "https://example.com/petrel.git", from: "0.1.0")],
      targets: [\(part)]
      """ : part
    try """
    // swift-tools-version: 6.0
    import PackageDescription

    let package = Package(
      name: "Notes",
    \(members))
    """.write(to: folder.appendingPathComponent("Package.swift"), atomically: true, encoding: .utf8)
    try run("swift", "package", "--package-path", folder.path, "dump-package")
  }

  /// Runs a program, and expects that it succeeds.
  private static func run(_ words: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(words)")
  }
}
