/// A large value in a heap object of its own, which is read without a copy.
///
/// Swift copies a large element of an array before it calls a method of the element, because the
/// array might change during the call. The copy increments the reference count of each array in the
/// value. A noncopyable value is not copied but borrowed. A change during the borrow stops the
/// program (The Swift Programming Language, "Memory Safety").
///
/// Copies of a `Shared` share the value until one of them is changed. A `Shared` is therefore safe
/// to send between threads: the object is written only while a single `Shared` refers to it.
struct Shared<Value: Sendable>: @unchecked Sendable {
  /// The heap object.
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

  /// The value. Reading the property copies the value; writing copies it only if it is shared.
  var value: Value {
    get { place.held.value }
    _modify {
      if !isKnownUniquelyReferenced(&place) { place = Place(place.held.value) }
      yield &place.held.value
    }
  }

  /// Calls `body` with the value, without a copy.
  @inline(__always)
  func read<Result>(_ body: (borrowing Value) -> Result) -> Result { place.held.read(body) }
}

/// A wrapper that makes a value noncopyable, so that Swift borrows it.
private struct Held<Value>: ~Copyable {
  var value: Value

  @inline(__always)
  borrowing func read<Result>(_ body: (borrowing Value) -> Result) -> Result { body(value) }
}

extension UnsafeBufferPointer {
  /// Calls `body` with an element, without a copy; see ``Shared``.
  ///
  /// - Precondition: `place` is an index of the buffer.
  @inline(__always)
  func read<Result>(_ place: Int, _ body: (borrowing Element) -> Result) -> Result {
    // A struct with one property has the layout of that property.
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
