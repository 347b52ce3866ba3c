import CloudKitModel

/// Where in a record the keys of a hash table come from: a field's value or the elements of its
/// list, folded or not.
struct AccessPath: Hashable, Sendable {
  var field: FieldKey
  var looksIntoList: Bool
  var options: Filter.Options

  /// The keys under which entries may be filed that `record` can pass; no key twice.
  ///
  /// - Complexity: O(length of the field's value)
  func keys(of record: Record) -> [AccessKey] {
    guard let value = record.value(for: field) else { return [] }
    guard looksIntoList else {
      if case .key(let key) = AccessKey.find(value, on: self) { return [key] }
      return []
    }
    guard case .list(_, let elements) = value else { return [] }
    var seen: Set<AccessKey> = []
    for element in elements {
      if case .key(let key) = AccessKey.find(element, on: self) { seen.insert(key) }
    }
    return Array(seen)
  }
}

/// How an entry can be found by hashing: a record that passes the filter has at least one of the
/// keys on the path.
struct AccessPredicate: Sendable {
  var path: AccessPath
  /// Without keys no record passes the filter.
  var keys: Set<AccessKey>

  /// Nil when the filter does not lend itself to hashing.
  init?(_ filter: Filter) {
    let values: [RecordValue]
    var needsOnlyOne = false
    switch (filter.comparator, filter.value) {
    case (.equals, let value?), (.listContains, let value?):
      values = [value]
    case (.isIn, .list(_, let elements)), (.listContainsAny, .list(_, let elements)):
      values = elements
    case (.listContainsAll, .list(_, let elements)) where !elements.isEmpty:
      values = elements
      needsOnlyOne = true
    default:
      return nil
    }
    path = AccessPath(
      field: filter.key, looksIntoList: filter.comparator.comparesList, options: filter.options)
    keys = []
    for value in values {
      switch AccessKey.find(value, on: path) {
      case .key(let key):
        keys.insert(key)
      case .equalsNothing:
        guard needsOnlyOne else { continue }
        keys = []
        return
      case .notFiled:
        return nil
      }
    }
    // Every element has to be there, so any one of them finds the entry.
    if needsOnlyOne, let first = values.first, case .key(let key) = AccessKey.find(first, on: path)
    {
      keys = [key]
    }
  }
}
