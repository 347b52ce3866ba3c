/// The numbers of the records that have one key in a field, or one word in a field's texts. They
/// are in memory, so that searches need not read them from the value index.
///
/// - Complexity: the memory is an eighth of a byte for each record of the database, if the listed
///   numbers are close together (``RecordNumberSet``).
struct PostingList: Sendable {
  /// The last number that the database had drawn when the list had this state (``DatabaseTable/nextNumber(of:)``).
  /// Each change of a record draws a number, so an older version shows that changes are missing.
  var version: Int64
  /// The numbers of the records.
  private(set) var numbers = RecordNumberSet()

  /// Creates an empty list.
  init(version: Int64) {
    self.version = version
  }

  /// The approximate memory in bytes.
  var size: Int { numbers.size }

  /// Whether the list has the record with this number.
  subscript(number: Int64) -> Bool {
    get { numbers.contains(number) }
    set {
      if newValue { numbers.insert(number) } else { numbers.remove(number) }
    }
  }
}
