/// A command that cannot be carried out, although CloudKit refused nothing.
struct NoteError: Error {
  /// A sentence for the user, without a full stop.
  var text: String
}
