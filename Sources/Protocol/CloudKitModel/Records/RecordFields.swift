/// The fields of a record, or of an operation on one, in the order of their names.
///
/// It is used as a dictionary is, but kept as a sorted array: a record has few fields, and nearly
/// all that is done with them is to go through them in order. Reading a stored record appends, and
/// writing an answer walks, where a dictionary would hash each name and sort all of them again.
///
/// ```swift
/// var fields: RecordFields<RecordValue> = ["magnitude": .double(6.1)]
/// fields["place"] = .string("Suva")
/// for (name, value) in fields { print(name, value) }
/// ```
///
/// All of it can be inlined, so that modules work on fields of their own types instead of asking at
/// run time what a generic value is.
///
/// Names are compared as Swift compares strings. Looking up a name takes logarithmic time, adding
/// one that belongs to the end constant time, and adding or removing elsewhere linear time.
public struct RecordFields<Value> {
  public typealias Element = (key: String, value: Value)

  /// In the order of their keys, each key once.
  @usableFromInline var elements: [Element] = []

  @inlinable public init() {}

  /// Of elements with the same name the last counts.
  @inlinable public init(_ elements: some Sequence<(key: String, value: Value)>) {
    reserveCapacity(elements.underestimatedCount)
    for (name, value) in elements { updateValue(value, forKey: name) }
  }

  /// Of elements with the same name the first counts.
  ///
  /// - Complexity: O(*n* log *n*), and O(*n*) where they stand in order, each once.
  @inlinable public init(firstOf unordered: [Element]) {
    if zip(unordered, unordered.dropFirst()).allSatisfy({ $0.key < $1.key }) {
      elements = unordered
      return
    }
    reserveCapacity(unordered.count)
    // Sorting is stable, so the first of a name comes first.
    for element in unordered.sorted(by: { $0.key < $1.key }) where elements.last?.key != element.key
    {
      elements.append(element)
    }
  }

  @inlinable public mutating func reserveCapacity(_ capacity: Int) {
    elements.reserveCapacity(capacity)
  }

  /// The value of a field. Setting nil removes the field.
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

  /// Sets a field, also to a value that is nil itself.
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

  @inlinable public mutating func removeValue(forKey name: String) {
    if let index = index(forKey: name) { elements.remove(at: index) }
  }

  @inlinable public func index(forKey name: String) -> Int? {
    let place = place(of: name)
    return place < elements.count && elements[place].key == name ? place : nil
  }

  /// The names, in order.
  @inlinable public var keys: [String] { elements.map { $0.key } }
  /// The values, in the order of their names.
  @inlinable public var values: some RandomAccessCollection<Value> {
    elements.lazy.map { $0.value }
  }

  @inlinable public func mapValues<Mapped, Failure: Error>(
    _ transform: (Value) throws(Failure) -> Mapped
  ) throws(Failure) -> RecordFields<Mapped> {
    var mapped = RecordFields<Mapped>()
    mapped.reserveCapacity(count)
    for (name, value) in elements { mapped.elements.append((name, try transform(value))) }
    return mapped
  }

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

  @inlinable public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> RecordFields {
    var filtered = RecordFields()
    filtered.elements = try elements.filter(isIncluded)
    return filtered
  }

  /// The first place whose name is not before `name`.
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

extension RecordFields: RandomAccessCollection {
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { elements.count }
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
