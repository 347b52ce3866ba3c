import CloudKit
import PetrelTesting
import Synchronization
import Testing
import Waiting

@testable import SyncedNotes

/// The example SyncedNotes, as its users use it, in a cloud of the test's own.
struct SyncedNotesTests {
  private let cloud: TestCloud
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    UUID().uuidString)

  init() async throws {
    cloud = try await TestCloud()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func device(_ name: String, of user: String? = "anna@example.com") throws -> Device {
    try Device(
      cloud.container(user: user, device: name, registersForPushes: false),
      file: folder.appendingPathComponent("\(name).json"))
  }

  @Test("Each device sees what the other one adds, changes, renames and deletes")
  func twoDevices() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (phone, tablet) = (try device("phone"), try device("tablet"))
    for device in [phone, tablet] {
      await device.run("online")
      try await device.prints("signed in")
    }
    await phone.run("add Shopping: milk")
    try await tablet.prints("new: Shopping: milk")
    await tablet.run("edit Shopping: milk, bread")
    try await phone.prints("changed: Shopping: milk, bread")
    await phone.run("rename Shopping: Groceries")
    try await tablet.prints("changed: Groceries: milk, bread")
    #expect(await tablet.lines(of: "list") == ["  Groceries: milk, bread"])
    await tablet.run("delete Groceries")
    try await phone.prints("deleted: Groceries: milk, bread")
    #expect(await phone.lines(of: "list") == ["no notes"])
  }

  @Test("What both devices change without a network is joined, field by field")
  func offline() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (phone, tablet) = (try device("phone"), try device("tablet"))
    await tablet.run("online")
    try await tablet.prints("signed in")
    await phone.run("add Shopping: milk")
    #expect(await phone.lines(of: "list") == ["* Shopping: milk"])
    #expect(await phone.lines(of: "sync") == ["the program is offline"])
    await phone.run("online")
    try await tablet.prints("new: Shopping: milk")
    for device in [phone, tablet] { await device.run("offline") }
    await phone.run("edit Shopping: milk, bread")
    await phone.run("rename Shopping: Groceries")
    await tablet.run("edit Shopping: milk, tea")
    await phone.run("online")
    await phone.run("sync")
    await tablet.run("online")
    try await tablet.prints("changed: Groceries: milk, tea")
    try await phone.prints("changed: Groceries: milk, tea")
    for device in [phone, tablet] {
      await device.run("sync")
      #expect(await device.lines(of: "list") == ["  Groceries: milk, tea"])
    }
  }

  @Test("A conflict during a send is merged and sent again")
  func conflict() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let phone = try device("phone")
    await phone.run("online")
    await phone.run("add Shopping: milk")
    await phone.run("sync")
    cloud.fail(next: .conflict(changing: { $0["title"] = "Groceries" }))
    await phone.run("edit Shopping: milk, bread")
    await phone.run("sync")
    try await phone.prints("merged: Groceries: milk, bread")
    #expect(await phone.lines(of: "list") == ["  Groceries: milk, bread"])
    let database = cloud.container(user: "anna@example.com", device: "other").privateCloudDatabase
    let record = try #require(
      try await database.recordZoneChanges(inZoneWith: NoteStore.zone.zoneID, since: nil)
        .modificationResultsByID.values.first
    ).get().record
    #expect(record["title"] == "Groceries")
    #expect(record.encryptedValues["text"] == "milk, bread")
  }

  @Test("An edit that was not sent survives the deletion of the note, or of all notes, elsewhere")
  func deletionElsewhere() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (phone, tablet) = (try device("phone"), try device("tablet"))
    await phone.run("online")
    for title in ["Shopping", "Ideas"] { await phone.run("add \(title): none") }
    await phone.run("sync")
    await tablet.run("online")
    await tablet.run("sync")
    await phone.run("offline")
    await phone.run("edit Shopping: milk")
    await tablet.run("delete Shopping")
    await tablet.run("sync")
    await phone.run("online")
    try await tablet.prints("new: Shopping: milk")

    await phone.run("offline")
    await phone.run("edit Ideas: a boat")
    try await cloud.container(user: "anna@example.com", device: "settings").privateCloudDatabase
      .deleteRecordZone(withID: NoteStore.zone.zoneID)
    await phone.run("online")
    try await phone.prints("deleted: Shopping: milk")
    try await tablet.prints("new: Ideas: a boat")
    for device in [phone, tablet] {
      await device.run("sync")
      #expect(await device.lines(of: "list") == ["  Ideas: a boat"])
    }
  }

  @Test(
    "Who signs out leaves no notes behind, and finds unsent changes again; nobody else gets them")
  func account() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    var phone = try device("phone")
    await phone.run("add Shopping: milk")
    await phone.run("online")
    await phone.run("sync")
    await phone.run("offline")
    await phone.run("edit Shopping: milk, bread")
    for user in [nil, "ben@example.com"] {
      try await phone.stop()
      phone = try device("phone", of: user)
      await phone.run("online")
      try await phone.prints(user == nil ? "signed out" : "signed in")
      #expect(await phone.lines(of: "list") == ["no notes"])
      if user != nil {
        await phone.run("add Ben's: cake")
        await phone.run("sync")
      }
    }
    try await phone.stop()
    phone = try device("phone")
    await phone.run("online")
    try await phone.prints("signed in")
    await phone.run("sync")
    #expect(await phone.lines(of: "list") == ["  Shopping: milk, bread"])
    let tablet = try device("tablet")
    await tablet.run("online")
    try await tablet.prints("new: Shopping: milk, bread")
    #expect(!tablet.text.contains("cake"))
  }

  @Test("Two users write one note, until its owner ends that")
  func sharing() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (anna, ben) = (try device("phone"), try device("laptop", of: "ben@example.com"))
    #expect(await anna.lines(of: "share Party") == ["there is no note 'Party'"])
    for device in [anna, ben] {
      await device.run("online")
      try await device.prints("signed in")
    }
    await anna.run("add Party: Saturday")
    await anna.run("add Diary: secret")
    let url = try #require(await anna.lines(of: "share Party: ben@example.com").first)
    await ben.run("accept \(url)")
    #expect(await ben.lines(of: "list") == ["  Party: Saturday (of another user)"])
    #expect(await anna.lines(of: "list") == ["  Diary: secret", "  Party: Saturday (shared)"])
    await ben.run("edit Party: Sunday")
    try await anna.prints("changed: Party: Sunday")
    await anna.run("edit Party: Friday")
    try await ben.prints("changed: Party: Friday")
    #expect(await ben.lines(of: "delete Party").first?.hasSuffix("unshare leaves it") == true)
    #expect(await ben.lines(of: "share Party").first?.hasSuffix("alone can share it") == true)
    await anna.run("unshare Party")
    try await ben.prints("deleted: Party: Friday")
    #expect(await anna.lines(of: "list") == ["  Diary: secret", "  Party: Friday"])
    #expect(await anna.lines(of: "unshare Party") == ["'Party' is not shared"])
  }

  @Test("The notes of one owner come and go one by one, also while the other user is offline")
  func severalShares() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (anna, ben) = (try device("phone"), try device("laptop", of: "ben@example.com"))
    for device in [anna, ben] {
      await device.run("online")
      try await device.prints("signed in")
    }
    for title in ["Party", "Trip", "Film"] {
      await anna.run("add \(title): none")
      let url = try #require(await anna.lines(of: "share \(title)").first)
      await ben.run("accept \(url)")
    }
    let notes = ["Film", "Party", "Trip"].map { "  \($0): none (of another user)" }
    #expect(await ben.lines(of: "list") == notes)
    await anna.run("unshare Party")
    try await ben.prints("deleted: Party: none")
    await ben.run("offline")
    await ben.run("edit Trip: tent")
    await anna.run("unshare Trip")
    await anna.run("edit Film: at eight")
    await anna.run("sync")
    await ben.run("online")
    try await ben.prints("changed: Film: at eight")
    await ben.run("sync")
    #expect(await ben.lines(of: "list") == ["  Film: at eight (of another user)"])
    await ben.run("unshare Film")
    #expect(await ben.lines(of: "list") == ["no notes"])
    await ben.run("add Own: note")
    await ben.run("sync")
    #expect(await ben.lines(of: "list") == ["  Own: note"])
  }

  @Test("The change of a participant who may only read is taken back")
  func readOnly() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let (anna, ben) = (try device("phone"), try device("laptop", of: "ben@example.com"))
    for device in [anna, ben] {
      await device.run("online")
      try await device.prints("signed in")
    }
    await anna.run("add Party: Saturday")
    let url = try #require(await anna.lines(of: "share Party").first.flatMap(URL.init(string:)))
    let metadata = try await cloud.container(user: "anna@example.com").shareMetadata(for: url)
    metadata.share.publicPermission = .readOnly
    try await cloud.container(user: "anna@example.com").privateCloudDatabase.save(metadata.share)
    await ben.run("accept \(url)")
    await ben.run("edit Party: Sunday")
    await ben.run("sync")
    try await ben.prints("you may not change this note: Party: Saturday")
    #expect(await ben.lines(of: "list") == ["  Party: Saturday (of another user)"])
    await ben.run("unshare Party")
    #expect(await ben.lines(of: "list") == ["no notes"])
  }

  @Test(
    "A line that is no command, and a command that cannot be carried out, say why",
    arguments: [
      ("add", NoteCommands.usage), ("edit Shopping", NoteCommands.usage),
      ("list all", NoteCommands.usage), ("shop milk", NoteCommands.usage),
      ("edit Ideas: a boat", "there is no note 'Ideas'"), ("accept it", "'it' is not a URL"),
      ("accept https://example.com/share/x", "the program is offline"),
    ])
  func refusals(line: String, text: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let phone = try device("phone")
    #expect(await phone.lines(of: line).joined(separator: "\n") == text)
    for _ in 0..<2 { await phone.run("add Shopping: milk") }
    let several = await phone.lines(of: "delete Shopping").first
    #expect(several?.hasPrefix("several notes are named 'Shopping'; choose one of ") == true)
    let name = try #require(several?.split(separator: " ").last)
    await phone.run("delete \(name)")
    #expect(await phone.lines(of: "list") == ["* Shopping: milk"])
  }

  @Test("A file belongs to one process, and a damaged file is not overwritten")
  func files() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let phone = try device("phone")
    await phone.run("add Shopping: milk")
    let used = #expect(throws: NoteError.self) { _ = try device("phone") }
    #expect(used?.text.hasPrefix("another process uses") == true)
    try Data("{".utf8).write(to: folder.appendingPathComponent("tablet.json"))
    let damaged = #expect(throws: NoteError.self) { _ = try device("tablet") }
    #expect(damaged?.text.contains("tablet.json cannot be read") == true)
    #expect(await phone.lines(of: "list") == ["* Shopping: milk"])
  }
}

/// A device on which the program runs.
private final class Device: Sendable {
  private let commands: Mutex<NoteCommands?>
  private let output: Output

  init(_ container: CKContainer, file: URL) throws {
    let output = Output()
    self.output = output
    commands = Mutex(
      NoteCommands(
        notes: NoteStore(container: container, file: try NoteFile(file)) { output.add($0) },
        output: { output.add($0) }))
  }

  /// All that the program has printed.
  var text: String { output.text }

  func run(_ line: String) async {
    _ = await commands.withLock { $0 }?.run(line)
  }

  /// Runs a command, and returns the lines that the program printed meanwhile.
  func lines(of line: String) async -> [String] {
    let before = output.lines.count
    await run(line)
    return Array(output.lines[before...])
  }

  /// Waits until the program has printed a line.
  func prints(_ line: String) async throws {
    try await eventually("the program prints '\(line)'; it has printed: \(text)") {
      output.lines.contains(line)
    }
  }

  /// Ends the program, as if its process were killed.
  func stop() async throws {
    weak let notes = commands.withLock { commands in
      defer { commands = nil }
      return commands?.notes
    }
    try await eventually("the program has ended") { notes == nil }
  }
}

/// The lines that a program printed.
private final class Output: Sendable {
  private let printed = Mutex<[String]>([])

  var lines: [String] { printed.withLock { $0 } }
  var text: String { lines.joined(separator: "\n") }

  func add(_ text: String) {
    printed.withLock { $0 += text.split(separator: "\n").map(String.init) }
  }
}
