/// The numbers of the records with one key in a field, or one word in its texts, in memory.
///
/// - Complexity: the memory is an eighth of a byte for each record of the database, if the listed
///   numbers are close together (``RecordNumberSet``).
struct PostingList: Sendable {
  /// The version, as ``KeyColumn/version``.
  var version: Int64
  private(set) var numbers = RecordNumberSet()

  init(version: Int64) {
    self.version = version
  }

  /// The approximate bytes.
  var size: Int { numbers.size }

  subscript(number: Int64) -> Bool {
    get { numbers.contains(number) }
    set {
      if newValue { numbers.insert(number) } else { numbers.remove(number) }
    }
  }
}
