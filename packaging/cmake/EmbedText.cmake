# Run as a script: writes OUTPUT, a C++ source that holds every file of FILES (separated by ;) as a string literal and defines
# lockstep::embeddedTexts().
set(body "")
foreach(file IN LISTS FILES)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND body "    {\"${folder}/${name}\", R\"lockstep_text(${text})lockstep_text\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new
"#include \"app/embedded.h\"

namespace lockstep {

namespace {

constexpr EmbeddedText kTexts[] = {
${body}};

}  // namespace

std::span<const EmbeddedText> embeddedTexts() { return kTexts; }

}  // namespace lockstep
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT})
