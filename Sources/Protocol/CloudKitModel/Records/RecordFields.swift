/// The fields of a record or of a record operation, in the order of their names.
///
/// The type is used like a dictionary, but stores a sorted array. A record has few fields, and most
/// code visits all of them in order. Code that reads a stored record appends fields, and code that
/// writes an answer visits them. A dictionary would hash each name and sort all names again.
///
/// ```swift
/// var fields: RecordFields<RecordValue> = ["magnitude": .double(6.1)]
/// fields["place"] = .string("Suva")
/// for (name, value) in fields { print(name, value) }
/// ```
///
/// All methods are inlinable. The compiler can then specialize them in other modules, which avoids
/// generic calls at run time.
///
/// Names are compared as Swift compares strings.
///
/// - Complexity: With *n* fields, looking up a name takes O(log *n*) time. Adding a name after the
///   last one takes O(1) time; adding or removing elsewhere takes O(*n*) time.
public struct RecordFields<Value> {
  /// A field's name and value.
  public typealias Element = (key: String, value: Value)

  /// The fields in the order of their names, each name once.
  @usableFromInline var elements: [Element] = []

  /// Creates an empty collection.
  @inlinable public init() {}

  /// Creates fields from elements in any order. If several elements have the same name, the last of
  /// them counts.
  @inlinable public init(_ elements: some Sequence<(key: String, value: Value)>) {
    reserveCapacity(elements.underestimatedCount)
    for (name, value) in elements { updateValue(value, forKey: name) }
  }

  /// Creates fields from elements in any order. If several elements have the same name, the first
  /// of them counts.
  ///
  /// - Complexity: O(*n* log *n*); O(*n*) when the names are in ascending order without repetition.
  ///   *n* is the number of elements.
  @inlinable public init(firstOf unordered: [Element]) {
    if zip(unordered, unordered.dropFirst()).allSatisfy({ $0.key < $1.key }) {
      elements = unordered
      return
    }
    reserveCapacity(unordered.count)
    // Sorting is stable, so elements with the same name keep their order.
    for element in unordered.sorted(by: { $0.key < $1.key }) where elements.last?.key != element.key
    {
      elements.append(element)
    }
  }

  /// Reserves space for this number of fields.
  @inlinable public mutating func reserveCapacity(_ capacity: Int) {
    elements.reserveCapacity(capacity)
  }

  /// The value of a field; nil when the field is absent. Setting nil removes the field.
  @inlinable public subscript(name: String) -> Value? {
    get { index(forKey: name).map { elements[$0].value } }
    set {
      if let newValue {
        updateValue(newValue, forKey: name)
      } else {
        removeValue(forKey: name)
      }
    }
  }

  /// Sets a field. With an optional `Value`, this method can store nil, which the subscript cannot.
  @inlinable public mutating func updateValue(_ value: Value, forKey name: String) {
    guard let last = elements.last, !(last.key < name) else {
      elements.append((name, value))
      return
    }
    let place = place(of: name)
    if elements[place].key == name {
      elements[place].value = value
    } else {
      elements.insert((name, value), at: place)
    }
  }

  /// Removes a field. Does nothing when the field is absent.
  @inlinable public mutating func removeValue(forKey name: String) {
    if let index = index(forKey: name) { elements.remove(at: index) }
  }

  /// Returns the position of a field; nil when the field is absent.
  @inlinable public func index(forKey name: String) -> Int? {
    let place = place(of: name)
    return place < elements.count && elements[place].key == name ? place : nil
  }

  /// The names, in ascending order.
  @inlinable public var keys: [String] { elements.map { $0.key } }
  /// The values, in the order of their names.
  @inlinable public var values: some RandomAccessCollection<Value> {
    elements.lazy.map { $0.value }
  }

  /// Returns the same names with transformed values.
  ///
  /// - Throws: The error of `transform`.
  /// - Complexity: O(*n*) for *n* fields, because the names keep their order.
  @inlinable public func mapValues<Mapped, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Mapped
  ) throws(Failure) -> RecordFields<Mapped> {
    var mapped = RecordFields<Mapped>()
    mapped.reserveCapacity(count)
    for (name, value) in elements { mapped.elements.append((name, try transform(value))) }
    return mapped
  }

  /// Returns the transformed values without those for which `transform` returns nil.
  @inlinable public func compactMapValues<Mapped>(
    _ transform: (Value) -> Mapped?
  ) -> RecordFields<Mapped> {
    var mapped = RecordFields<Mapped>()
    mapped.reserveCapacity(count)
    for (name, value) in elements {
      if let value = transform(value) { mapped.elements.append((name, value)) }
    }
    return mapped
  }

  /// Returns the fields that satisfy the condition.
  @inlinable public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> RecordFields {
    var filtered = RecordFields()
    filtered.elements = try elements.filter(isIncluded)
    return filtered
  }

  /// Returns the position of the first field whose name is not before `name`; the number of fields
  /// when there is none. The search is binary.
  @inlinable func place(of name: String) -> Int {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = (low + high) / 2
      if elements[middle].key < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A collection of names and values in the order of the names.
extension RecordFields: RandomAccessCollection {
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { elements.count }
  /// The field at a position, from 0.
  @inlinable public subscript(index: Int) -> Element { elements[index] }
}

extension RecordFields: Sendable where Value: Sendable {}

extension RecordFields: Equatable where Value: Equatable {
  @inlinable public static func == (left: RecordFields, right: RecordFields) -> Bool {
    left.elements.elementsEqual(right.elements, by: ==)
  }
}

extension RecordFields: Hashable where Value: Hashable {
  @inlinable public func hash(into hasher: inout Hasher) {
    hasher.combine(count)
    for (name, value) in elements {
      hasher.combine(name)
      hasher.combine(value)
    }
  }
}

extension RecordFields: ExpressibleByDictionaryLiteral {
  @inlinable public init(dictionaryLiteral elements: (String, Value)...) {
    self.init(elements.map { (key: $0.0, value: $0.1) })
  }
}

extension RecordFields: CustomStringConvertible {
  public var description: String {
    "[" + elements.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
  }
}
