import CloudKit
import PetrelTesting
import RepositoryFiles
import Testing

/// The guide's page on the sync engine: what it shows is what a reader sees.
struct SyncEngineGuideTests {
  private static let page = "docs/guide/sync-engine.md"

  @Test("What one device sends, another one fetches")
  func twoDevices() async throws {
    let cloud = try await TestCloud()
    let phone = TitleSync(cloud.container(user: "anna", device: "phone").privateCloudDatabase)
    let tablet = TitleSync(cloud.container(user: "anna", device: "tablet").privateCloudDatabase)
    let milk = CKRecord.ID(recordName: "milk", zoneID: TitleSync.zone.zoneID)

    await phone.set("Milk", of: milk)
    try await phone.engine.sendChanges()
    try await tablet.engine.fetchChanges()
    #expect(await tablet.titles == [milk: "Milk"])
  }

  @Test("The windows print what the page shows")
  func windows() async throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let (server, address) = try await folder.startServer()
    defer { server.terminate() }
    var windows: [String: NoteWindow] = [:]
    var typed: [String] = []
    for command in try folder.commands(of: Self.page, server: address) {
      typed.append(command)
      guard let name = command.firstMatch(of: /DEVICE=(\w+)/)?.1 else { continue }
      let window = try NoteWindow(typed, named: String(name), in: folder)
      try await window.expect("signed in")
      windows[String(name)] = window
      typed = []
    }
    #expect(windows.count == 3 && typed.isEmpty)

    var url = ""
    var lineCount = 0
    for session in try Self.sessions() {
      for (name, line) in session {
        let window = try #require(windows[name], "there is no window \(name)")
        if line.hasPrefix("> ") {
          try window.type(String(line.dropFirst(2)).replacing("URL", with: url))
        } else {
          let printed = try await window.expect(line)
          if printed.hasPrefix("http") { url = printed }
        }
        lineCount += 1
      }
    }
    #expect(lineCount >= 25)
    for window in windows.values { try await window.quit() }
  }

  /// The sessions of the page: the lines of each, with the windows in which they stand. A session shows
  /// two windows side by side, below a line with their names.
  private static func sessions() throws -> [[(window: String, line: String)]] {
    try RepositoryFile.text(page).components(separatedBy: "```")
      .compactMap { block in
        let lines = block.split(separator: "\n").map(String.init)
        guard let names = lines.first?.wholeMatch(of: /(\w+) +(\w+)/) else { return nil }
        let column = names.output.0.count - names.output.2.count
        return lines.dropFirst().map { line in
          let isRight = line.prefix(column).allSatisfy { $0 == " " }
          return isRight
            ? (String(names.output.2), String(line.dropFirst(column)))
            : (String(names.output.1), line)
        }
      }
  }
}
