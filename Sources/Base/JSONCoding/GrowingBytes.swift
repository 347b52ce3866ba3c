import Foundation

/// A buffer for a text that is being written. The text can only be appended to. ``takeData()``
/// passes the memory to a `Data` without a copy.
///
/// The buffer uses memory from `malloc` and not an array. `Data` cannot become the owner of an
/// array's memory. And ``appendDigits(of:)`` writes behind the written bytes, which an array does
/// not allow. No other type has a pointer to the memory.
struct GrowingBytes: ~Copyable, @unchecked Sendable {  // The only owner of its memory.
  private var start: UnsafeMutableRawPointer
  private(set) var count = 0
  private var capacity: Int

  init(reserving capacity: Int) {
    self.capacity = max(capacity, 64)
    start = Self.allocated(nil, self.capacity)
  }

  deinit { free(start) }

  /// Returns the bytes without a copy. The `Data` then owns the memory, and the buffer cannot be
  /// used any more.
  consuming func takeData() -> Data {
    let data = Data(bytesNoCopy: start, count: count, deallocator: .free)
    discard self
    return data
  }

  var array: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: start, count: count)) }
  var text: String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }

  @inline(__always)
  mutating func append(_ byte: UInt8) {
    reserve(1)
    start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  @inline(__always)
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    memcpy(start + count, source, bytes.count)
    count += bytes.count
  }

  mutating func appendDigits(of integer: Int64) {
    // At most 19 digits and a sign. The loop finds them from the last to the first.
    let longest = 20
    reserve(longest)
    let place = (start + count).assumingMemoryBound(to: UInt8.self)
    var first = longest
    var rest = integer.magnitude
    repeat {
      first -= 1
      place[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if integer < 0 {
      first -= 1
      place[first] = UInt8(ascii: "-")
    }
    memmove(place, place + first, longest - first)
    count += longest - first
  }

  @inline(__always)
  private mutating func reserve(_ additional: Int) {
    if capacity - count < additional { grow(by: additional) }
  }

  @inline(never)
  private mutating func grow(by additional: Int) {
    capacity = max(2 * capacity, count + additional)
    start = Self.allocated(start, capacity)
  }

  /// Allocates `capacity` bytes of memory, or enlarges the memory `old` to `capacity` bytes. Stops
  /// the process if the system has no memory.
  private static func allocated(
    _ old: UnsafeMutableRawPointer?, _ capacity: Int
  ) -> UnsafeMutableRawPointer {
    guard let memory = realloc(old, capacity) else {
      // Without memory, Swift's own collections also stop the process.
      fatalError("out of memory: cannot allocate \(capacity) bytes for JSON")
    }
    return memory
  }
}
