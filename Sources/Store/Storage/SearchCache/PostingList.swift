/// The records that have one key in a field, or one word in its values, by their numbers: what a
/// stretch of the value index tells, in an eighth of a byte for each record there is.
struct PostingList: Sendable {
  /// The last number that its database had drawn when it was so. Whatever changes a record draws one.
  var version: Int64
  private(set) var numbers = RecordNumberSet()

  init(version: Int64) {
    self.version = version
  }

  /// Memory for it, in bytes, about.
  var size: Int { numbers.size }

  subscript(number: Int64) -> Bool {
    get { numbers.contains(number) }
    set {
      if newValue { numbers.insert(number) } else { numbers.remove(number) }
    }
  }
}
