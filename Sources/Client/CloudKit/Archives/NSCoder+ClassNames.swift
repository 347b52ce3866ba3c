#if !canImport(ObjectiveC)
@_spi(Reflection) import Swift
#endif

extension NSCoder {
  /// Makes an archiver write Apple's names for the module's classes. Each class calls this when it is
  /// encoded, for that is before the archiver writes its name.
  ///
  /// `NSKeyedArchiver.setClassName(_:for:)` is for this, yet in Foundation on Linux (6.3) it has no
  /// effect: it files the name under the metatype's name and looks under the type's. So there the
  /// names go into the archiver's table directly. Should Foundation ever lay out its archiver in
  /// another way, the table is not found, and archives have the names of Swift, which this module
  /// reads too.
  func useArchivedClassNames() {
    guard let archiver = self as? NSKeyedArchiver else { return }
    #if canImport(ObjectiveC)
    for named in ArchivedClasses.byName {
      archiver.setClassName(named.key, for: named.value)
    }
    #else
    guard let offset = Self.classNamesOffset else { return }
    let table = (Unmanaged.passUnretained(archiver).toOpaque() + offset)
      .assumingMemoryBound(to: [String: String].self)
    // A name of the program's own counts before.
    if table.pointee[Self.sample] == nil {
      table.pointee.merge(ArchivedClasses.namesByTypeName) { old, _ in old }
    }
    #endif
  }

  #if !canImport(ObjectiveC)
  private static let sample = String(reflecting: CKRecordID.self)

  /// Where an archiver keeps its table of class names; nil when it has none.
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
