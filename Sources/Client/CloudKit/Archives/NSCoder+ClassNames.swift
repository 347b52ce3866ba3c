#if !canImport(ObjectiveC)
@_spi(Reflection) import Swift
#endif

extension NSCoder {
  /// Makes an archiver write Apple's names for the classes of this module. Does nothing for other coders.
  ///
  /// Each class calls this method at the start of its `encode(with:)`, because the archiver writes the name of the
  /// class after that call.
  ///
  /// `NSKeyedArchiver.setClassName(_:for:)` has no effect in Foundation on Linux (6.3). Foundation stores the name
  /// under the name of the metatype, and looks for it under the name of the type. On Linux this method therefore finds
  /// the archiver's own table by reflection, and writes to the table. If a later Foundation has no such table, archives
  /// get Swift's names, which this module reads too.
  func useArchivedClassNames() {
    guard let archiver = self as? NSKeyedArchiver else { return }
    #if canImport(ObjectiveC)
    for named in ArchivedClasses.written {
      archiver.setClassName(named.key, for: named.value)
    }
    #else
    guard let offset = Self.classNamesOffset else { return }
    let table = (Unmanaged.passUnretained(archiver).toOpaque() + offset)
      .assumingMemoryBound(to: [String: String].self)
    // Names that the program has set are not replaced.
    if table.pointee[Self.sample] == nil {
      table.pointee.merge(ArchivedClasses.namesByTypeName) { old, _ in old }
    }
    #endif
  }

  #if !canImport(ObjectiveC)
  /// The key that shows whether this method has already filled the table of an archiver.
  private static let sample = String(reflecting: CKRecordID.self)

  /// The offset in bytes of the table of class names in an archiver; `nil` when Foundation has no such table.
  private static let classNamesOffset: Int? = {
    var found: Int?
    let fieldsOfClass = _EachFieldOptions(rawValue: 1)
    _ = _forEachField(of: NSKeyedArchiver.self, options: fieldsOfClass) { name, offset, type, _ in
      guard String(cString: name) == "_classNameMap", type == [String: String].self else {
        return true
      }
      found = offset
      return false
    }
    return found
  }()
  #endif
}
