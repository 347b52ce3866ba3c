/// A large value at a place of its own, which is read there.
///
/// To call a method of a large element of an array, Swift copies the element first and counts a
/// reference for each table in it, because the array might change meanwhile. What cannot be copied is
/// borrowed instead, and a change during that time stops the program (The Swift Programming Language,
/// "Memory Safety").
///
/// Copies share the value until one of them is changed. That makes it safe to send: a place is only
/// written while nobody else has it.
struct Shared<Value: Sendable>: @unchecked Sendable {
  private final class Place {
    var held: Held<Value>

    init(_ value: Value) {
      held = Held(value: value)
    }
  }

  private var place: Place

  init(_ value: Value) {
    place = Place(value)
  }

  /// The value; to get it as a whole copies it.
  var value: Value {
    get { place.held.value }
    _modify {
      if !isKnownUniquelyReferenced(&place) { place = Place(place.held.value) }
      yield &place.held.value
    }
  }

  /// Reads the value without a copy.
  @inline(__always)
  func read<Result>(_ body: (borrowing Value) -> Result) -> Result { place.held.read(body) }
}

/// A value that is read where it lies, for it cannot be copied.
private struct Held<Value>: ~Copyable {
  var value: Value

  @inline(__always)
  borrowing func read<Result>(_ body: (borrowing Value) -> Result) -> Result { body(value) }
}

extension UnsafeBufferPointer {
  /// Reads an element without a copy, for the same reason.
  @inline(__always)
  func read<Result>(_ place: Int, _ body: (borrowing Element) -> Result) -> Result {
    // What has one property is laid out as that is.
    withUnsafePointer(to: place) { element in
      element.withMemoryRebound(to: Held<Element>.self, capacity: 1) { $0.pointee.read(body) }
    }
  }

  @inline(__always)
  private func withUnsafePointer<Result>(
    to place: Int, _ body: (UnsafePointer<Element>) -> Result
  ) -> Result {
    precondition(indices.contains(place), "there is no element \(place) among \(count)")
    // There is an element, so there is an address.
    return body(baseAddress.unsafelyUnwrapped + place)
  }
}
