import Foundation

/// The unsent bytes of a stream, and the decision which side waits: the producer or the reader.
///
/// The buffer holds less than `capacity` bytes and one more chunk. After each
/// ``ReadAction/suspend``, exactly one later call returns that the connection must be resumed.
struct StreamState {
  /// The result of a write.
  enum WriteAction: Equatable {
    /// `resume` says whether the caller must resume the connection.
    case accepted(resume: Bool)
    /// The buffer is full: write again when ``hasRoom`` is true.
    case wait
    case closed
  }

  /// The result of a read.
  enum ReadAction: Equatable {
    case bytes([UInt8])
    /// There are no bytes: the caller suspends the connection.
    case suspend
    case end
    /// The stream is broken: the caller cuts the connection.
    case fail
  }

  /// The way in which the stream ended.
  private enum Ending {
    case complete
    case broken
  }

  /// The number of bytes at which writers wait.
  let capacity: Int
  private var buffer: [UInt8] = []
  /// The index of the first unsent byte in `buffer`.
  private var head = 0
  private var ending: Ending?
  /// Whether the reader waits for bytes.
  private(set) var isSuspended = false

  init(capacity: Int) {
    self.capacity = capacity
  }

  var count: Int { buffer.count - head }
  var hasRoom: Bool { count < capacity }
  var isClosed: Bool { ending != nil }

  /// Adds a chunk if there is space. An empty chunk changes nothing.
  mutating func write(_ chunk: Data) -> WriteAction {
    guard ending == nil else { return .closed }
    guard hasRoom else { return .wait }
    guard !chunk.isEmpty else { return .accepted(resume: false) }
    if head > 0 {
      buffer.removeFirst(head)
      head = 0
    }
    buffer.append(contentsOf: chunk)
    return .accepted(resume: takeSuspension())
  }

  /// Ends the stream; buffered bytes are still sent. Returns whether to resume the connection.
  mutating func finish() -> Bool {
    if ending == nil { ending = .complete }
    return takeSuspension()
  }

  /// Breaks the stream; buffered bytes are not sent. Returns whether to resume the connection.
  mutating func fail() -> Bool {
    ending = .broken
    return takeSuspension()
  }

  mutating func read(upTo limit: Int) -> ReadAction {
    if ending == .broken { return .fail }
    if count > 0 {
      let end = head + min(limit, count)
      let bytes = Array(buffer[head..<end])
      head = end
      if head == buffer.count {
        // An empty buffer has no memory, because a stream has nothing to send most of the time.
        buffer = []
        head = 0
      }
      return .bytes(bytes)
    }
    if ending == .complete { return .end }
    isSuspended = true
    return .suspend
  }

  /// Ends the reader's wait, and returns whether it waited.
  private mutating func takeSuspension() -> Bool {
    defer { isSuspended = false }
    return isSuspended
  }
}
