package extract

import (
	"slices"
	"strings"
)

// IgnoredExtensions returns the endings of files that are no pages: archives,
// images, sound, video, office documents and programs. They are Scrapy's
// IGNORED_EXTENSIONS.
func IgnoredExtensions() []string { return strings.Fields(ignoredExtensions) }

// ignoredExtensions has a blank before and after each word.
const ignoredExtensions = " 7z 7zip bz2 rar tar tar.gz xz zip" +
	" mng pct bmp gif jpg jpeg png pst psp tif tiff ai drw dxf eps ps svg cdr ico webp" +
	" mp3 wma ogg wav ra aac mid au aiff" +
	" 3gp asf asx avi mov mp4 mpg qt rm swf wmv m4a m4v flv webm" +
	" xls xlsm xlsx xltm xltx potm potx ppt pptm pptx pps doc docb docm docx dotm dotx odt ods odg odp" +
	" css pdf exe bin rss dmg iso apk jar sh rb js hta bat cpl msi msp py "

// hasIgnoredExtension reports whether a path ends in one of IgnoredExtensions.
// Most links have no ending at all, and the others cost one search in the text.
func hasIgnoredExtension(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return false
	}
	ending := strings.ToLower(name[dot+1:])
	if ending == "gz" { // the one ending of two parts, and no ending by itself
		return strings.HasSuffix(strings.ToLower(name), ".tar.gz")
	}
	return ending != "" && strings.Contains(ignoredExtensions, " "+ending+" ")
}

func hasExtension(path string, endings []string) bool {
	lower := strings.ToLower(path)
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(lower, "."+ending) })
}
