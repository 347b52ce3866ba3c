import CloudKit

/// The commands of the program.
struct NoteCommands: Sendable {
  static let usage = """
    the commands are
      add TITLE: TEXT       write a note
      edit TITLE: TEXT      change the text of a note
      rename TITLE: TITLE   change the title of a note
      delete TITLE          delete a note
      list                  print all notes; * marks those with changes that the server does not have
      share TITLE           print a URL with which everybody can read and change the note
      share TITLE: ADDRESS  the same for one person, by e-mail address
      accept URL            open the note of another user
      unshare TITLE         end the sharing of a note, or leave a note of another user
      sync                  send and fetch now
      offline               work without the network
      online                work with the network again
      quit                  send what is unsent, and leave
    """

  let notes: NoteStore
  /// Prints one or more lines.
  let output: @Sendable (String) -> Void

  /// Runs the command of a line.
  ///
  /// - Returns: Whether the program goes on.
  func run(_ line: String) async -> Bool {
    do {
      let (command, rest) = Self.split(line, at: " ")
      if command == "quit" { return false }
      try await run(command ?? "", rest)
    } catch {
      output(Self.text(of: error))
    }
    return true
  }

  private func run(_ command: String, _ rest: String?) async throws {
    let (title, value) = Self.split(rest ?? "", at: ":")
    switch (command, title, value) {
    case ("", nil, nil): break
    case ("add", let title?, let text): await notes.add(title, text ?? "")
    case ("edit", let title?, let text?): try await notes.edit(title, newText: text)
    case ("rename", let title?, let newTitle?): try await notes.edit(title, newTitle: newTitle)
    case ("delete", let title?, nil): try await notes.delete(title)
    case ("list", nil, nil): await list()
    case ("share", let title?, let address):
      output(try await notes.share(title, with: address).absoluteString)
    case ("accept", _?, _):
      guard let rest, let url = URL(string: rest), url.scheme != nil else {
        throw NoteError(text: "'\(rest ?? "")' is not a URL")
      }
      try await notes.accept(url)
    case ("unshare", let title?, nil): try await notes.unshare(title)
    case ("sync", nil, nil):
      try await notes.fetch()
      try await notes.send()
    case ("offline", nil, nil): await notes.disconnect()
    case ("online", nil, nil): await notes.connect()
    default: throw NoteError(text: Self.usage)
    }
  }

  private func list() async {
    let notes = await notes.notes
    let lines = notes.map { note in
      let isOwn = note.id.ownerName == CKCurrentUserDefaultName
      let shared = isOwn ? note.server?.isShared == true ? " (shared)" : "" : " (of another user)"
      return (note.unsentChange == nil ? "  " : "* ") + note.line + shared
    }
    output(lines.isEmpty ? "no notes" : lines.joined(separator: "\n"))
  }

  /// Sends what is unsent, before the program ends.
  func leave() async {
    if await notes.unsentCount > 0 {
      do {
        try await notes.send()
      } catch {
        output(Self.text(of: error))
      }
    }
    let count = await notes.unsentCount
    if count > 0 { output("unsent changes: \(count); they are sent when the program runs again") }
  }

  /// The message of an error. An error of several items is that of one of them.
  private static func text(of error: any Error) -> String {
    if let error = error as? NoteError { return error.text }
    let items = (error as? CKError)?.partialErrorsByItemID?.values
    return (items?.first ?? error).localizedDescription
  }

  /// Splits a text at the first separator, without the spaces around the parts. An empty part is nil.
  private static func split(_ text: String, at separator: Character) -> (String?, String?) {
    let parts = text.trimmingCharacters(in: .whitespaces)
      .split(separator: separator, maxSplits: 1, omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    func part(_ index: Int) -> String? {
      parts.indices.contains(index) && !parts[index].isEmpty ? parts[index] : nil
    }
    return (part(0), part(1))
  }
}
