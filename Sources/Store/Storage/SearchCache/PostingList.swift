/// The numbers of the records with one key in a field, or with one word in its values: a range of
/// the value index, in an eighth of a byte for each record of the database.
struct PostingList: Sendable {
  /// The last number that the database had drawn at this state. Every change of a record draws one.
  var version: Int64
  /// The numbers of the records.
  private(set) var numbers = RecordNumberSet()

  /// Creates an empty list.
  init(version: Int64) {
    self.version = version
  }

  /// The approximate memory in bytes.
  var size: Int { numbers.size }

  /// Whether the record has the key.
  subscript(number: Int64) -> Bool {
    get { numbers.contains(number) }
    set {
      if newValue { numbers.insert(number) } else { numbers.remove(number) }
    }
  }
}
