/// A text that is compared by its UTF-8 bytes.
///
/// `String` treats canonically equivalent texts as equal, such as composed and decomposed accents.
/// Filters treat them as different.
struct ByteText: Hashable, Sendable {
  /// The text, with contiguous UTF-8 storage.
  var string: String

  /// Creates a text. The initializer makes the storage contiguous.
  init(_ string: String) {
    self.string = string
    self.string.makeContiguousUTF8()
  }

  static func == (left: ByteText, right: ByteText) -> Bool {
    left.string.utf8.elementsEqual(right.string.utf8)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(string.utf8.count)
    // The initializer made the storage contiguous, so the closure always runs.
    string.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
  }
}
