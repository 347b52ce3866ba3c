import CloudKit

/// The fields of a note, which its users write.
struct NoteContent: Codable {
  var title: String
  var text: String
  /// The time of the last change of the title or the text, by the clock of the device where it was
  /// made.
  private(set) var edited: Date

  init(title: String, text: String) {
    self.title = title
    self.text = text
    edited = Date()
  }

  init(_ record: CKRecord) {
    title = record["title"] ?? ""
    text = record.encryptedValues["text"] ?? ""
    edited = record["edited"] ?? .distantPast
  }

  func write(to record: CKRecord) {
    record["title"] = title
    record.encryptedValues["text"] = text
    record["edited"] = edited
  }

  /// Whether another version says the same.
  func isSame(as other: NoteContent) -> Bool { title == other.title && text == other.text }

  /// Joins two versions that come from one, field by field: a field that only one of them has changed
  /// is taken from it. If both have changed the field, the later edit wins.
  ///
  /// - Parameter base: The version that both come from; nil if it is not known.
  func merged(with other: NoteContent, since base: NoteContent?) -> NoteContent {
    let later = edited > other.edited ? self : other
    func field(_ path: KeyPath<NoteContent, String>) -> String {
      if self[keyPath: path] == base?[keyPath: path] { return other[keyPath: path] }
      if other[keyPath: path] == base?[keyPath: path] { return self[keyPath: path] }
      return later[keyPath: path]
    }
    var result = later
    result.title = field(\.title)
    result.text = field(\.text)
    return result
  }
}
