import CloudKit

/// Notes that users share. All of this needs a network.
extension NoteStore {
  /// Shares a note of the user's own.
  ///
  /// - Parameter address: The e-mail address of the only person who may open the URL; nil for
  ///   everybody who has the URL. They may read and change the note.
  /// - Returns: The URL of the share, which the user brings to the others.
  func share(_ title: String, with address: String?) async throws -> URL {
    let id = try note(title).id
    let engine = try engine(.private)
    // The note must be on the server, in its latest version.
    try await send()
    guard let note = file[.private].notes[id] else {
      throw NoteError(text: "'\(title)' is a note of another user, who alone can share it")
    }
    let root = note.record
    let share: CKShare
    if let shareID = root.share?.recordID {
      guard let saved = try await engine.database.record(for: shareID) as? CKShare else {
        throw NoteError(text: "'\(title)' has no share that could be read")
      }
      share = saved
    } else {
      share = CKShare(rootRecord: root)
    }
    share[CKShare.SystemFieldKey.title] = note.content.title
    if let address {
      let participant = try await container.shareParticipant(forEmailAddress: address)
      participant.permission = .readWrite
      share.addParticipant(participant)
    } else {
      share.publicPermission = .readWrite
    }
    // A new share must be saved in one request with its root, which no batch of an engine promises.
    let (saved, _) = try await engine.database.modifyRecords(saving: [root, share], deleting: [])
    if let root = try saved[root.recordID]?.get() { noteSaved(root, of: engine) }
    write()
    guard let share = try saved[share.recordID]?.get() as? CKShare, let url = share.url else {
      throw NoteError(text: "the server has saved the share without a URL")
    }
    return url
  }

  /// Opens the URL of a share, and fetches the note.
  ///
  /// On an Apple device the system opens the URL, and passes the metadata to the app's delegate, in
  /// `userDidAcceptCloudKitShareWith`.
  func accept(_ url: URL) async throws {
    let engine = try engine(.shared)
    let metadata = try await container.shareMetadata(for: url)
    try await container.accept(metadata)
    try await engine.fetchChanges(.init(scope: .zoneIDs([metadata.share.recordID.zoneID])))
  }

  /// Ends the sharing of a note, or leaves a note of another user. Both are the deletion of the share,
  /// by its owner or by a participant.
  func unshare(_ title: String) async throws {
    let note = try note(title)
    let engine = try engine(scope(of: note))
    guard let shareID = note.record.share?.recordID else {
      throw NoteError(text: "'\(title)' is not shared")
    }
    try await engine.database.deleteRecord(withID: shareID)
    // No push announces to a device what the device itself has done beside the engine.
    try await engine.fetchChanges()
  }
}
