import Foundation
import RepositoryFiles
import Testing
import Waiting

/// The example SyncedNotes in processes that are killed.
struct SyncedNotesCrashTests {
  @Test("A device that is killed again and again loses no change that its user has seen")
  func kills() async throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let (server, address) = try await folder.startServer()
    defer { server.terminate() }
    let settings = ["export PETREL_SERVER=\(address) PETREL_CONTAINER=iCloud.com.example.Notes"]
    func open(_ device: String, _ token: String) throws -> NoteWindow {
      try NoteWindow(
        settings + [
          "export PETREL_TOKEN=$(petrel users \(token))",
          "PETREL_DEVICE=\(device) SyncedNotes \(device).json",
        ], named: device, in: folder)
    }
    let tablet = try open("tablet", "add anna")
    try await tablet.expect("signed in")

    // The texts that the last list has shown, by title.
    var seen: [String: String] = [:]
    for round in 0..<8 {
      let phone = try open("phone", "add-token anna")
      // The titles of the notes that were changed after the last list.
      var changed: Set<String> = []
      for step in 0..<4 {
        changed = []
        for change in 0..<6 {
          let title = "n\(Int.random(in: 0..<12))"
          guard changed.insert(title).inserted else { continue }
          let text = "\(round).\(step).\(change)"
          switch (seen[title], Int.random(in: 0..<4)) {
          case (nil, _): try phone.type("add \(title): \(text)")
          case (_?, 0): try phone.type("delete \(title)")
          case (_?, _): try phone.type("edit \(title): \(text)")
          }
        }
        if Int.random(in: 0..<4) == 0 { break }
        seen = Self.texts(try await phone.list())
        changed = []
        // The next changes and the kill meet the engine at different steps of its work.
        if Bool.random() { try await tablet.changes() }
      }
      phone.kill()
      let next = try open("phone", "add-token anna")
      let texts = Self.texts(try await next.list())
      for title in Set(seen.keys).union(texts.keys).subtracting(changed) {
        #expect(texts[title] == seen[title], "\(title) in round \(round)")
      }
      seen = texts
      next.kill()
    }

    let phone = try open("phone", "add-token anna")
    try phone.type("sync")
    let notes = try await phone.list()
    #expect(Self.texts(notes) == seen)
    #expect(Set(notes).count == seen.count && notes.allSatisfy { $0.hasPrefix("  ") })
    try tablet.type("sync")
    #expect(try await tablet.list() == notes)
    for window in [phone, tablet] { try await window.quit() }
  }

  /// The texts of the notes of a list, by title.
  private static func texts(_ lines: [String]) -> [String: String] {
    lines.reduce(into: [:]) { texts, line in
      let parts = line.dropFirst(2).split(separator: ": ", maxSplits: 1).map(String.init)
      texts[parts[0]] = parts[1]
    }
  }
}
